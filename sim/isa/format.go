package isa

func (in *Inst) format() string { return in.Op.String() }
