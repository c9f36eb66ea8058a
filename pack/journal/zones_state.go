package journal

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress/acts"
	"github.com/ctxfs/ctxfs/compress/ledger"
	"github.com/ctxfs/ctxfs/compress/verdicts"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Which files there are, what stands in those that matter, how the newest run of each command ended and what calls changed elsewhere stands
// before the conversation once something was compacted, as of the record that brought the compaction. What a minor compaction adds has only
// what changed since the one before; a later line of a file or a command takes the place of an earlier one.

// Numbers of the block of files and runs.
const (
	runsShare   = 500 // thousandths of its room that those of runs may take
	filesShare  = 600 // of what these leave, those of files, where there are acts
	charsAToken = 3   // characters that a token of it has at least, nearly always
	minState    = 48  // tokens below which there is none
)

// ChangedSince returns a line for each file and each command that the past of f tells of and that something happened to after the newest
// of its blocks of files and runs, the newest first, in at most room tokens. It returns ctxabi.ErrIO when a record cannot be read.
func (mm *Memo) ChangedSince(m record.Records, f *Fold, c *tokens.Counter, room int) (lines []string, err error) {
	past, err := mm.Zones(m, f, c)
	if err != nil || len(past) == 0 {
		return nil, err
	}
	told := ""
	for _, z := range past {
		for _, p := range z.blocks {
			if p.Zone == InState {
				told += p.Text
			}
		}
	}
	if told == "" {
		return nil, nil
	}
	since := past[len(past)-1].at
	now, err := mm.states.at(m, stateFrom(past[0].at), m.Len())
	if err != nil {
		return nil, err
	}
	where := func(at int) string { return record.AddressOf(m, at).String() }
	changed := now.files.Lines(ledger.Options{Chars: changedChars, Where: where, Since: since})
	changed = append(changed, now.runs.Lines(verdicts.Options{Chars: changedChars, Where: where, Since: since})...)
	for _, line := range changed {
		name, _, named := strings.Cut(line, ": ")
		if !named || strings.HasPrefix(line, body) || !strings.Contains(told, "- "+record.OneLine(name)+": ") {
			continue
		}
		line = record.OneLine(line)
		if room -= c.CountCached(line) + 2; room < 0 {
			break
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// changedChars is how many bytes of lines are looked at to find what changed since the last compaction.
const changedChars = 8192

// body is what begins a line that shows what stands in the file above it.
const body = "  | "

// listed returns lines as items of a list, each on a line of its own.
func listed(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if in, ok := strings.CutPrefix(line, body); ok {
			b.WriteString(body + strings.TrimRight(record.WithoutControls(in), " ") + "\n")
			continue
		}
		b.WriteString("- " + record.OneLine(line) + "\n")
	}
	return b.String()
}

// state is the block of files and runs, in at most room tokens. What calls changed elsewhere may take more on top: where an agent works
// with other things than files, few lines of it are worth as much.
func (b *zoner) state(room, more int) Part {
	heading := record.BlockHeading + "files and runs (as of " + record.AddressOf(b.m, b.z.at).Source() + ")\n"
	if room -= b.c.CountCached(heading); room < minState {
		return Part{}
	}
	major, since := b.z, 0
	if len(b.before) > 0 {
		major, since = b.before[0], b.before[len(b.before)-1].at
	}
	s, err := b.mm.states.at(b.m, stateFrom(major.at), b.z.at)
	if err != nil {
		b.unread = true
		return Part{}
	}
	where := func(at int) string { return record.AddressOf(b.m, at).String() }
	fitting := func(room int, lines func(chars int) []string) string {
		for chars := room * (charsAToken + 1); chars > 0; chars = chars * 4 / 5 {
			list := lines(chars)
			if len(list) == 0 {
				return ""
			}
			text := listed(list)
			if b.c.CountCached(text) <= room {
				return text
			}
		}
		return ""
	}
	runs := fitting(room*runsShare/1000, func(chars int) []string {
		return s.runs.Lines(verdicts.Options{Chars: chars, Where: where, Since: since})
	})
	room -= b.c.CountCached(runs)
	filesRoom := room
	if len(s.acts.Acts()) > 0 {
		filesRoom = room * filesShare / 1000
	}
	files := fitting(filesRoom, func(chars int) []string {
		return s.files.Lines(ledger.Options{Chars: chars, Where: where, Since: since})
	})
	done := fitting(room+more-b.c.CountCached(files), func(chars int) []string {
		return s.acts.Lines(acts.Options{Chars: chars, Where: where, Since: since})
	})
	if files+runs+done == "" {
		return Part{}
	}
	var text strings.Builder
	text.WriteString(heading)
	text.WriteString(files)
	text.WriteString(runs)
	text.WriteString(done)
	p := Part{Piece: Piece{Span: ctxabi.Span{From: stateFrom(major.at) + 1, To: b.z.at}, Kept: true, Zone: InState}, Text: text.String()}
	p.Tokens = b.c.CountCached(p.Text)
	return p
}
