package matrixcore

import "fmt"

// The names that rules use in JSON and in print.
var (
	roundingNames = []string{Trunc: "trunc", Floor: "floor", Nearest: "nearest"}
	joinNames     = []string{JoinLate: "late", JoinEarly: "early"}
	lanesNames    = []string{Interleaved: "interleaved", Consecutive: "consecutive"}
)

func nameOf(names []string, i uint8, kind string) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

func marshal(names []string, i uint8, kind string) ([]byte, error) {
	if int(i) >= len(names) {
		return nil, fmt.Errorf("matrixcore: %s %d has no name", kind, i)
	}
	return []byte(names[i]), nil
}

func unmarshal(names []string, text []byte, kind string) (uint8, error) {
	for i, name := range names {
		if name == string(text) {
			return uint8(i), nil
		}
	}
	return 0, fmt.Errorf("matrixcore: no %s is named %q: want one of %v", kind, text, names)
}

func (r Rounding) String() string { return nameOf(roundingNames, uint8(r), "Rounding") }
func (j Join) String() string     { return nameOf(joinNames, uint8(j), "Join") }
func (l Lanes) String() string    { return nameOf(lanesNames, uint8(l), "Lanes") }

// MarshalText is the name, as in JSON.
func (r Rounding) MarshalText() ([]byte, error) { return marshal(roundingNames, uint8(r), "rounding") }

// MarshalText is the name, as in JSON.
func (j Join) MarshalText() ([]byte, error) { return marshal(joinNames, uint8(j), "join") }

// MarshalText is the name, as in JSON.
func (l Lanes) MarshalText() ([]byte, error) { return marshal(lanesNames, uint8(l), "lanes") }

// UnmarshalText reads a name.
func (r *Rounding) UnmarshalText(text []byte) error {
	i, err := unmarshal(roundingNames, text, "rounding")
	*r = Rounding(i)
	return err
}

// UnmarshalText reads a name.
func (j *Join) UnmarshalText(text []byte) error {
	i, err := unmarshal(joinNames, text, "join")
	*j = Join(i)
	return err
}

// UnmarshalText reads a name.
func (l *Lanes) UnmarshalText(text []byte) error {
	i, err := unmarshal(lanesNames, text, "lanes")
	*l = Lanes(i)
	return err
}
