package gpu

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"mqaproof/sim/isa"
)

// TestRandomInstructions compiles and executes whatever decodes, memory
// instructions aside: nothing may panic, whatever the fields, the registers
// and the number of registers that the kernel has.
func TestRandomInstructions(t *testing.T) {
	r := rand.New(rand.NewPCG(30, 30))
	refused, executed := map[isa.Op]bool{}, map[isa.Op]bool{}
	for _, target := range []isa.Target{isa.GFX942, isa.GFX950} {
		for _, vregs := range []int{24, 256, firstAcc + 16, 512} {
			p := &Program{target: target, index: map[uint64]int32{}, vregs: vregs}
			w := newWave(p)
			w.V = w.V[:vregs]
			for range 60000 {
				var code [16]byte
				for i := 0; i < len(code); i += 8 {
					binary.LittleEndian.PutUint64(code[i:], r.Uint64())
				}
				switch r.IntN(4) { // the encodings with much in them
				case 0:
					code[3] = 0xd0 | code[3]&3 // VOP3
				case 1:
					code[3], code[2] = 0xd3, 0x80|code[2] // VOP3P
				case 2:
					code[3] &= 0x7f // VOP2, VOP1, VOPC
				}
				in, err := isa.Decode(target, code[:], testBase)
				if err != nil || in.Enc == isa.SMEM || in.Enc >= isa.DS {
					continue
				}
				step, err := compile(&in, p)
				if err != nil {
					if r := (*refusal)(nil); !errors.As(err, &r) || r.reason == "" {
						t.Fatalf("%v: %v is no refusal", in.String(), err)
					}
					refused[in.Op] = true
					continue
				}
				executed[in.Op] = true
				w.trap, w.stop, w.done, w.mode = nil, false, false, defaultMode&^(uint32(r.IntN(4))<<4)
				w.EXEC = [3]uint64{allLanes, 0, r.Uint64()}[r.IntN(3)]
				step(w)
			}
		}
	}
	if len(executed) < 400 {
		t.Errorf("only %d instructions executed, %d refused", len(executed), len(refused))
	}
}
