package pack

// What the built-in sources make of their files is pure text work: builtin_*.go
// and strategy.go hold one function each, which look at nothing but their
// arguments. blocks.go frames, counts and cuts what they give.

// selection is what a built-in source made of its files.
type selection struct {
	Text  string    // ends in a newline; "" when there is nothing to show
	Used  []excerpt // what stands in Text, in its order
	Notes []string  // for the report
}

// excerpt is a part of a file that a selection shows.
type excerpt struct {
	File     int // index among the files that the built-in was given
	From, To int // lines, 1-based, both included; 0, 0: the whole
}

// Each built-in that chooses takes fits, which says whether a text is within
// the source's cap; nil: everything is. It shows no more than fits.
