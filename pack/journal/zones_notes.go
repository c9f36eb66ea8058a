package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Facts, decisions and refs that ctxfs derives stand before the conversation once something was compacted, as the summary does: of
// the records up to the compaction, and of those only what no record of the pack says itself. They take of the room of the key lines,
// and where that is small they are left out, but for decisions that events record. What the agent wrote of them is a block of its source.

// Numbers of blocks of notes.
const (
	ZoneNotes     = 12    // thousandths of the room that one may take
	minNotesRoom  = 10000 // tokens of room below which there are none
	noteTextShown = 60    // tokens of one note
	decidedPart   = 4     // recorded decisions take a quarter of the room of zones at most
)

// NoteCaps are in tokens at a limit of 32,000.
var NoteCaps = map[recipe.Type]int{recipe.TypeFacts: 600, recipe.TypeDecisions: 600, recipe.TypeRefs: 400}

// DerivedNotes are the types of sources whose notes may be derived, in the order of their blocks.
var DerivedNotes = []recipe.Type{recipe.TypeFacts, recipe.TypeDecisions, recipe.TypeRefs}

// NoteWants are the notes that a pack shows.
type NoteWants struct {
	Kinds []recipe.Type
	Own   map[recipe.Type]map[string]bool // ids of rows of the agent, which take the place of derived ones
	Key   string                          // names both
}

// noteLine is one row as a block shows it.
type noteLine struct {
	id, text, source string
}

// decided are lines of the decisions that events had recorded before the record that brought the compaction, for which there is so much room.
func (b *zoner) decided(room int64) (lines string, tokens int) {
	n := b.mm.decidedBefore(b.m, b.z.at)
	if lines, tokens = DecidedText(b.mm.Decided[b.z.Decided:n], int(min(int64(NoteCaps[recipe.TypeDecisions]), room/decidedPart)), b.c.CountCached); lines != "" {
		b.z.Decided = n
		tokens += b.c.CountCached(b.notesHeading(recipe.TypeDecisions))
	}
	return lines, tokens
}

// decidedKey names the decisions that zones of a compaction show.
func (mm *Memo) decidedKey(m record.Records, compacted int) string {
	n := mm.decidedBefore(m, compacted)
	if n == 0 {
		return ""
	}
	h := sha256.New()
	for _, d := range mm.Decided[:n] {
		h.Write(append([]byte(d.Text), 0))
		h.Write(append([]byte(d.Source), 0))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// notesHeading is that of a block of notes.
func (b *zoner) notesHeading(kind recipe.Type) string {
	return record.BlockHeading + string(kind) + " (" + record.SourcesOf(b.m, ctxabi.Span{From: 1, To: b.z.at}) + ")\n"
}

// notes are the blocks of notes: told, which are decisions that events record, and what is derived. left is what the other zones leave
// for them and the key lines, of which derived ones take a third at most.
func (b *zoner) notes(left int64, covered []string, told string) (blocks []Part) {
	wants, room := b.mm.Wants, b.f.Rules.room
	if told != "" {
		blocks = append(blocks, b.noteBlock(recipe.TypeDecisions, told, nil, nil, 0, nil))
	}
	if room < minNotesRoom || len(wants.Kinds) == 0 {
		return blocks
	}
	n := b.notesFound
	blocks = nil
	for _, kind := range DerivedNotes {
		if !slices.Contains(wants.Kinds, kind) {
			continue
		}
		var lines []noteLine
		switch kind {
		case recipe.TypeFacts:
			for _, r := range n.Facts {
				lines = append(lines, noteLine{r.ID, r.Text, r.Source})
			}
		case recipe.TypeDecisions:
			for _, r := range n.Decisions {
				lines = append(lines, noteLine{r.ID, r.Decision, r.Source})
			}
		default:
			for _, r := range n.Refs {
				text := r.Path
				if r.Summary != "" {
					text += ": " + r.Summary
				}
				lines = append(lines, noteLine{r.ID, text, r.Source})
			}
		}
		first := ""
		if kind == recipe.TypeDecisions {
			first = told
		}
		p := b.noteBlock(kind, first, lines, wants.Own[kind], int(min(int64(NoteCaps[kind]), room*ZoneNotes/1000, left/9)), covered)
		if p.Text != "" {
			blocks = append(blocks, p)
			covered = append(covered, p.Text)
		}
	}
	return blocks
}

// noteBlock is one of them: first, and the newest notes of records that are not shown, as many as there is room for.
func (b *zoner) noteBlock(kind recipe.Type, first string, lines []noteLine, own map[string]bool, room int, covered []string) Part {
	heading := b.notesHeading(kind)
	room -= b.c.CountCached(heading)
	var chosen []string // newest first
	for _, l := range slices.Backward(lines) {
		text := record.OneLine(l.text)
		if own[l.id] || slices.ContainsFunc(covered, func(c string) bool { return strings.Contains(c, text) }) { // the pack says it
			continue
		}
		text, _ = compress.ClipTokens(text, noteTextShown)
		line := "- " + record.OneLine(text) + " (" + l.source + ")\n"
		n := b.c.CountCached(line)
		if n > room {
			break
		}
		room -= n
		chosen = append(chosen, line)
	}
	if len(chosen) == 0 && first == "" {
		return Part{}
	}
	slices.Reverse(chosen)
	p := Part{Piece: Piece{Span: ctxabi.Span{From: 1, To: b.z.at}, Kept: true, Zone: InNotes}, Notes: string(kind), Text: heading + first + strings.Join(chosen, "")}
	p.Tokens = b.c.CountCached(p.Text)
	return p
}

// NoteIDs are the ids of rows.
func NoteIDs(rows []byte) map[string]bool {
	ids := map[string]bool{}
	for line := range bytes.Lines(rows) {
		if id := gjson.GetBytes(line, "id").Str; id != "" {
			ids[id] = true
		}
	}
	return ids
}
