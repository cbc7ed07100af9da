package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// plainCase is Case without its methods, so that the JSON package uses the
// field tags.
type plainCase Case

// MarshalJSON gives the canonical JSON of the case: fields in the order of the
// type, defaults left out.
func (c Case) MarshalJSON() ([]byte, error) {
	return json.Marshal(plainCase(c.Canonical()))
}

// UnmarshalJSON reads a case and refuses fields that no case has, wherever the
// case stands in a larger file. It does not validate.
func (c *Case) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var p plainCase
	if err := d.Decode(&p); err != nil {
		return fmt.Errorf("case: %w", err)
	}
	*c = Case(p)
	return nil
}

// DecodeCase reads one case, alone in data, and validates it. Unknown fields,
// text after the case and values out of range are errors.
func DecodeCase(data []byte) (Case, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	var c Case
	if err := d.Decode(&c); err != nil {
		if errors.Is(err, io.EOF) {
			return Case{}, errors.New("case: the text is empty; expected a JSON object")
		}
		return Case{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Case{}, fmt.Errorf("case: there is more text after the JSON object, at byte %d", d.InputOffset())
	}
	if err := c.Validate(); err != nil {
		return Case{}, err
	}
	return c, nil
}
