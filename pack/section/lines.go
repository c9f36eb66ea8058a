package section

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
)

// maxMisses is the number of lines of one section that do not fit before no other one is tried.
const maxMisses = 6

// Input is what the caller of [State.Lines] decides.
type Input struct {
	Where func(at int) string   // address of a position
	Count func(text string) int // tokens of a line

	Room int // tokens
	More int // tokens in addition for lines about things outside of the workspace

	Told     []string // lines that the prompt contains already, in their order
	Since    int      // position of the last of them; older entries that were not told are not shown
	OnlyTold bool     // only entries that Told contains in an older state
	Without  Set      // sections without lines
}

// chosen is a line that is shown.
type chosen struct {
	prefix.Line
	text string
}

// Lines returns the lines of all sections within the token limit. Entries of which the prompt shows
// an older state come first, each at least in its short form; those that do not fit come first the
// next time.
func (s *State) Lines(in Input) (out []string) {
	told := map[string]bool{}
	for _, line := range in.Told {
		told[line] = true
	}
	var changed []chosen
	fresh := make([][]prefix.Line, len(s.sections))
	for i, one := range s.sections {
		one, ok := one.(prefix.LineSection)
		if !ok || in.Without&(1<<i) != 0 {
			continue
		}
		lines := one.Lines(prefix.LineInput{At: s.to, Where: in.Where})
		newest := map[string]int{}
		for k := range lines {
			l := &lines[k]
			l.Name, l.Full, l.Short = record.OneLine(l.Name), record.OneLine(l.Full), record.OneLine(l.Short)
			newest[l.Name] = max(newest[l.Name], l.At)
		}
		for _, l := range lines {
			switch {
			case told[l.Full] || told[l.Short]:
			case (!l.Least || in.OnlyTold) && l.At == newest[l.Name] &&
				slices.ContainsFunc(in.Told, func(line string) bool { return strings.HasPrefix(line, l.Name+": ") }):
				changed = append(changed, chosen{l, l.Short})
			case l.At > in.Since && !in.OnlyTold:
				fresh[i] = append(fresh[i], l)
			}
		}
	}

	room := in.Room
	changed = in.fit(changed, &room)
	for _, c := range changed {
		out = append(out, c.text)
	}
	for i, lines := range fresh {
		out = append(out, in.choose(lines, room*sections[i].share/1000, &room)...)
	}
	return out
}

// choose returns the lines of one section that fit into its share of the room.
func (in *Input) choose(lines []prefix.Line, share int, room *int) (out []string) {
	more, misses := in.More, 0
	for _, l := range lines {
		cost := in.Count(l.Full)
		switch {
		case cost <= share:
			share -= cost
			*room -= cost
		case l.External && cost <= more:
			more -= cost
		default:
			if misses++; misses >= maxMisses {
				return out
			}
			continue
		}
		out = append(out, l.Full)
	}
	return out
}

// fit returns the changed lines that fit into the room, in their long form as far as there is room
// for it.
func (in *Input) fit(changed []chosen, room *int) []chosen {
	kept := changed[:0]
	for _, c := range changed {
		if cost := in.Count(c.text); cost <= *room {
			*room -= cost
			kept = append(kept, c)
		}
	}
	for i := range kept {
		c := &kept[i]
		if more := in.Count(c.Full) - in.Count(c.text); more <= *room {
			*room -= more
			c.text = c.Full
		}
	}
	return kept
}
