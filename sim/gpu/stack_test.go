package gpu

import (
	"testing"

	"mqaproof/sim/isa"
)

// onStack runs a kernel of testdata/stack.hip with a thread an element of a.
func onStack(t *testing.T, target isa.Target, kernel string, a []int32) ([]int32, *Report) {
	t.Helper()
	p := hipFixture(t, "stack", target, kernel)
	if !p.Kernel().DynamicStack {
		t.Fatalf("%s does not use a dynamic stack: the test tests nothing", kernel)
	}
	m := NewMemory()
	out := output(t, m, "out", 4*len(a))
	r := run(t, m, p, Launch{Grid: one(uint32(len(a) / 64)), Block: one(64), Kernarg: pack(out, input(t, m, "a", a))})
	return valuesOf[int32](t, out), r
}

func TestDynamicStack(t *testing.T) {
	fib := []int32{0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55}
	for _, target := range hipTargets {
		a := sequence(256, func(i int) int32 { return int32(i % len(fib)) })
		got, r := onStack(t, target, "recursion", a)
		noFaults(t, r)
		for i, n := range a {
			if got[i] != fib[n] {
				t.Fatalf("%s: fib(%d) = %d in lane %d", target, n, got[i], i)
			}
		}
		a = sequence(256, func(i int) int32 { return int32(i*i - 100) })
		got, r = onStack(t, target, "indirect", a)
		noFaults(t, r)
		for i, x := range a {
			if want := [2]int32{3 * x, ^x}[x&1]; got[i] != want {
				t.Fatalf("%s: function %d of %d = %d, want %d", target, x&1, x, got[i], want)
			}
		}
	}
}

// reached is how many bytes of a lane's scratch the kernel deep takes for so
// many levels.
func reached(t *testing.T, levels int32) int {
	t.Helper()
	for range 100 { // a sync.Pool may drop what it is given
		p := hipFixture(t, "stack", isa.GFX942, "deep")
		m := NewMemory()
		out := output(t, m, "out", 256)
		args := pack(out, input(t, m, "a", sequence(64, func(int) int32 { return levels })))
		noFaults(t, run(t, m, p, Launch{Grid: one(1), Block: one(64), Workers: 1, Kernarg: args}))
		if x, ok := p.idle.Get().(*worker); ok {
			return 4 * len(x.all[0].private.dwords)
		}
	}
	t.Fatal("no worker comes back")
	return 0
}

// TestDynamicStackEnds: a stack that outgrows what a lane has is a fault of the
// kernel, at the first access beyond it, and a level below it is none.
func TestDynamicStackEnds(t *testing.T) {
	const target = isa.GFX942
	low, high := reached(t, 10), reached(t, 20)
	if size := int(scratchSize(hipFixture(t, "stack", target, "deep").Kernel())); high >= size/2 {
		t.Errorf("depth 20 takes %d of %d bytes of scratch", high, size)
	}
	frame := (high - low) / 10 // bytes a level
	if frame < 16 {
		t.Fatalf("%d bytes a level", frame)
	}
	levels := int32(dynamicStack / frame)
	a := sequence(64, func(int) int32 { return levels - 2 })
	got, r := onStack(t, target, "deep", a)
	noFaults(t, r)
	if got[7] != a[7] {
		t.Errorf("depth %d = %d", a[7], got[7])
	}
	p := hipFixture(t, "stack", target, "deep")
	m := NewMemory()
	out := output(t, m, "out", 256)
	args := pack(out, input(t, m, "a", sequence(64, func(int) int32 { return 2 * levels })))
	// The return address is lost with the frame, so a trap may follow.
	r, err := m.Run(t.Context(), p, Launch{Grid: one(1), Block: one(64), Kernarg: args, Budget: 1 << 20})
	if r == nil || len(r.Faults) == 0 || r.Faults[0].Space != "scratch" || r.Faults[0].Kind != OutOfBoundsWrite {
		t.Errorf("twice the depth gives %+v, %v", r, err)
	}
}

// TestScratchGrows: scratch that no store has reached takes no memory, reads as
// undefined, and is so again for the next wave.
func TestScratchGrows(t *testing.T) {
	var p private
	for round := range 3 {
		p.reset(16 << 10)
		if len(p.dwords) != 0 {
			t.Fatalf("round %d starts with %d dwords", round, len(p.dwords))
		}
		if v, ok := p.loadByte(3, 9000); v != 0 || ok {
			t.Fatalf("round %d: %d, %v before any store", round, v, ok)
		}
		p.storeByte(3, 9000, 7)
		if v, ok := p.loadByte(3, 9000); v != 7 || !ok || len(p.dwords) != 2251 {
			t.Fatalf("round %d: %d, %v, %d dwords", round, v, ok, len(p.dwords))
		}
		if v, ok := p.loadByte(3, 4); v != 0 || ok {
			t.Fatalf("round %d: %d, %v below the store", round, v, ok)
		}
		p.storeByte(3, 16<<10-1, 7)
		if len(p.dwords) != 4096 {
			t.Fatalf("round %d: %d dwords", round, len(p.dwords))
		}
	}
}
