package pack

// What the built-in sources make of their files is pure text work: builtin_*.go
// and strategy.go hold one function each, which look at nothing but their
// arguments. blocks.go frames, counts and cuts what they give.
