package verdicts

import (
	"regexp/syntax"
	"sync"
)

// rulesAt returns for each byte the rules that a line which begins with it may match, by their places.
var rulesAt = sync.OnceValue(func() *[256][]int {
	var all [256][]int
	for i := range rules {
		for b, may := range firstBytes(rules[i].re().String()) {
			if may {
				all[b] = append(all[b], i)
			}
		}
	}
	return &all
})

// firstBytes returns which bytes may begin a text that an anchored expression matches.
func firstBytes(expression string) (set [256]bool) {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		panic(err)
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		panic(err)
	}
	add := func(from, to rune) {
		for r := from; r <= min(to, 0x7F); r++ {
			set[r] = true
		}
		for b := 0x80; to > 0x7F && b <= 0xFF; b++ {
			set[b] = true
		}
	}
	seen := make([]bool, len(prog.Inst))
	var from func(pc uint32)
	from = func(pc uint32) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		switch in := &prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			from(in.Out)
			from(in.Arg)
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
			from(in.Out)
		case syntax.InstRune1, syntax.InstRune:
			if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
				add(0, 0xFFFF)
				return
			}
			if len(in.Rune) == 1 {
				add(in.Rune[0], in.Rune[0])
			}
			for i := 0; i+1 < len(in.Rune); i += 2 {
				add(in.Rune[i], in.Rune[i+1])
			}
		case syntax.InstFail:
		default: // any, or none at all
			add(0, 0xFFFF)
		}
	}
	from(uint32(prog.Start))
	return set
}
