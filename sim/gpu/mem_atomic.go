package gpu

import "math"

// atomicOp is a read-modify-write operation on 4 or 8 bytes.
type atomicOp struct {
	size    int
	compare bool // takes a second value
	// apply gives the new value. second is what compare-and-swap compares with.
	apply func(old, value, second uint64) uint64
}

// memoryAtomics are named by what follows "_atomic_" in an opcode's name.
var memoryAtomics = func() map[string]atomicOp {
	m := map[string]atomicOp{
		"add_f32":     {4, false, atomicAddF32},
		"add_f64":     {8, false, atomicAddF64},
		"min_f64":     {8, false, atomicMinF64},
		"max_f64":     {8, false, atomicMaxF64},
		"pk_add_f16":  {4, false, atomicPkAddF16},
		"pk_add_bf16": {4, false, atomicPkAddBF16},
	}
	for name, f := range integerAtomics {
		m[name] = atomicOp{4, false, low(f)}
		m[name+"_x2"] = atomicOp{8, false, f}
	}
	for name, f := range map[string][2]func(old, value, _ uint64) uint64{
		"smin": {signed32(minI), minI}, "smax": {signed32(maxI), maxI},
		"inc": {low(inc), inc}, "dec": {low(dec), dec},
	} {
		m[name] = atomicOp{4, false, f[0]}
		m[name+"_x2"] = atomicOp{8, false, f[1]}
	}
	m["cmpswap"] = atomicOp{4, true, low(compareSwap)}
	m["cmpswap_x2"] = atomicOp{8, true, compareSwap}
	return m
}()

// integerAtomics are those whose 32-bit form is the 64-bit one cut to 32 bits,
// of operands that are zero-extended.
var integerAtomics = map[string]func(old, value, _ uint64) uint64{
	"swap": func(_, value, _ uint64) uint64 { return value },
	"add":  func(old, value, _ uint64) uint64 { return old + value },
	"sub":  func(old, value, _ uint64) uint64 { return old - value },
	"umin": func(old, value, _ uint64) uint64 { return min(old, value) },
	"umax": func(old, value, _ uint64) uint64 { return max(old, value) },
	"and":  func(old, value, _ uint64) uint64 { return old & value },
	"or":   func(old, value, _ uint64) uint64 { return old | value },
	"xor":  func(old, value, _ uint64) uint64 { return old ^ value },
}

func low(f func(old, value, second uint64) uint64) func(old, value, second uint64) uint64 {
	return func(old, value, second uint64) uint64 { return uint64(uint32(f(old, value, second))) }
}

func signed32(f func(old, value, second uint64) uint64) func(old, value, second uint64) uint64 {
	wide := func(x uint64) uint64 { return uint64(int64(int32(x))) }
	return func(old, value, second uint64) uint64 { return uint64(uint32(f(wide(old), wide(value), second))) }
}

func minI(old, value, _ uint64) uint64 { return uint64(min(int64(old), int64(value))) }
func maxI(old, value, _ uint64) uint64 { return uint64(max(int64(old), int64(value))) }

func inc(old, value, _ uint64) uint64 {
	if old >= value {
		return 0
	}
	return old + 1
}

func dec(old, value, _ uint64) uint64 {
	if old == 0 || old > value {
		return value
	}
	return old - 1
}

func compareSwap(old, value, second uint64) uint64 {
	if old == second {
		return value
	}
	return old
}

func atomicAddF32(old, value, _ uint64) uint64 {
	return uint64(math.Float32bits(f32(uint32(old)) + f32(uint32(value))))
}

func atomicAddF64(old, value, _ uint64) uint64 {
	return math.Float64bits(math.Float64frombits(old) + math.Float64frombits(value))
}

func atomicMinF64(old, value, _ uint64) uint64 {
	if math.Float64frombits(value) < math.Float64frombits(old) {
		return value
	}
	return old
}

func atomicMaxF64(old, value, _ uint64) uint64 {
	if math.Float64frombits(value) > math.Float64frombits(old) {
		return value
	}
	return old
}

func atomicPkAddF16(old, value, _ uint64) uint64 {
	add := func(shift int) uint64 {
		return uint64(f32ToF16(f16ToF32(uint16(old>>shift))+f16ToF32(uint16(value>>shift)))) << shift
	}
	return add(0) | add(16)
}

func atomicPkAddBF16(old, value, _ uint64) uint64 {
	add := func(shift int) uint64 {
		sum := f32(uint32(old>>shift)<<16) + f32(uint32(value>>shift)<<16)
		return uint64(f32ToBF16(sum)) << shift
	}
	return add(0) | add(16)
}
