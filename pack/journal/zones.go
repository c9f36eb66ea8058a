package journal

import (
	"crypto/sha256"
	"slices"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section"
)

// Zone is what a part of the journal is that is no record as it stands in the log.
type Zone uint8

const (
	InFull    Zone = iota
	InSummary      // the block of the summary: extra, its records are counted elsewhere; see [part] for who wrote it
	InSaid         // the block of the user's words: likewise
	InState        // the block of files and runs: likewise
	InLines        // the block of key lines: likewise
	InDecided      // the block of recorded decisions: likewise
	InFolds        // one record, shortened to what it comes to
	InBlocks       // in place of all blocks of a generation; no part has it
)

// ByFold is how a folded record is shortened.
const ByFold = "folded"

// Numbers of zones.
const (
	minRefold  = 100 // tokens that key lines leave over: more records are folded
	rulesShare = 500 // thousandths of the room that messages with standing rules may take

	WindowRecords = 1024    // that are looked at to choose key lines
	windowBytes   = 2 << 20 // likewise, of the log

	nearlyFull = 700 // thousandths of the room from which on the first compaction is prepared
)

// Zones are what a generation shows for the records that it took behind the boundary. They follow from
// the records up to its compaction alone and never change.
type Zones struct {
	from         int    // the first record of the generation
	boundary, at int    // of the compaction: the first live record, and the one that brought it
	blocks       []Part // before the conversation
	From         int    // the first folded record; 0: none is
	folds        []Part // of the records from there to the boundary
	covers       int    // last place without derived lines, because the delivered summary replaces them; 0: none
	Decided      int    // of the recorded decisions, how many the blocks tell of

	used bool // by the build going on
}

// any reports whether a generation shows something of its records.
func (p Past) any() bool {
	return slices.ContainsFunc(p, func(z *Zones) bool { return len(z.blocks)+len(z.folds) > 0 })
}

// zonesOf names the zones of one compaction: its rules, the boundary, the record that brought it, and
// the summary that stands in it.
type zonesOf struct {
	rules        Rules
	boundary, at int
	summary      [sha256.Size]byte
	decided      string // see decidedKey
	before       *Zones // of the generation before; nil: it is the first one
}

// First returns the first place of the generation.
func (z *Zones) First() int { return z.from }

// Boundary returns the place behind its last one.
func (z *Zones) Boundary() int { return z.boundary }

func (z *Zones) size() int {
	n := 256
	for _, p := range z.blocks {
		n += len(p.Text)
	}
	for _, p := range z.folds {
		n += len(p.Text) + 160
	}
	return n
}

// Zones returns those of a fold, one for each of its generations.
// It returns ctxabi.ErrIO when a record cannot be read.
func (mm *Memo) Zones(m record.Records, f *Fold, c *tokens.Counter) (Past, error) {
	if f.Rules.zones.all() == 0 {
		return nil, nil
	}
	if f.Boundary() == 1 {
		if f.weight() > f.Rules.room*nearlyFull/1000 {
			mm.prepare(m, f)
		}
		return nil, nil
	}
	own := mm.SummaryFor(f)
	var earlier []*Summary
	shows := sha256.New()
	if own != nil {
		earlier = earlierThan(mm.Summaries, own)
	}
	for _, v := range append(earlier, own) {
		id := v.ID()
		shows.Write(id[:])
	}
	id := [sha256.Size]byte(shows.Sum(nil))
	var past Past
	for i, g := range f.past {
		key := zonesOf{f.Rules, g.Boundary(), g.Compacted, id, mm.decidedKey(m, g.Compacted), nil}
		if i > 0 {
			key.before = past[i-1]
		}
		z := mm.zoned[key]
		if z == nil {
			z = &Zones{from: max(g.from, f.Lead.N+1), boundary: g.Boundary(), at: g.Compacted}
			b := &zoner{m: m, mm: mm, f: g, c: c, z: z, before: past, folds: foldedRecords{map[int]Part{}, sameResults{}, 0}}
			kept := g.Rules.room - g.settled().keptRecords(1, g.starts[0])
			rooms := g.Rules.zonesIn(kept)
			if i == 0 {
				if b.own.Summary, b.own.earlier = own, earlier; own != nil {
					rooms = g.Rules.zonesWith(kept, own.Tokens)
				}
			} else {
				z.Decided, z.covers = past[i-1].Decided, past[0].covers
			}
			if rooms.all() > 0 {
				if err := b.make(rooms); err != nil {
					return nil, err
				}
			}
			if !b.unread {
				mm.zoned[key] = z
				mm.made++
			}
		} else if i == len(f.past)-1 {
			mm.prepare(m, f)
		}
		z.used = true
		past = append(past, z)
	}
	return past, nil
}

// prepare reads the newest record, and some older ones, for the next compaction.
func (mm *Memo) prepare(m record.Records, f *Fold) {
	mm.digests.prepare(m, f.N)
	_, _ = mm.sectionsUpTo(m, f, f.N) // the compaction reports a record that cannot be read
}

// Past are the zones of the generations of a fold.
type Past []*Zones

// Decided returns how many of the recorded decisions the blocks tell of.
func (p Past) Decided() int {
	if len(p) == 0 {
		return 0
	}
	return p[len(p)-1].Decided
}

// folded returns the first folded record of each generation; 0: none is.
func (p Past) folded() (list []int) {
	for _, z := range p {
		list = append(list, z.From)
	}
	return list
}

// fold returns the part of the folded record of a piece.
func (p Past) fold(q Piece) Part { return p[q.Past].folds[q.From-p[q.Past].From] }

// zoner makes the zones of one compaction.
type zoner struct {
	m      record.Records
	mm     *Memo
	f      *Fold // when that was done
	c      *tokens.Counter
	z      *Zones
	before Past // of the generations before

	sections *section.State // of the records up to the compaction
	facts    *derived.State // their notes
	changed  Changed        // statements of these that later ones changed
	own      ownSummary
	words    saidWords
	folds    foldedRecords
	unread   bool // a record could not be read
}

// ownSummary is the delivered version that a compaction uses.
type ownSummary struct {
	*Summary            // nil: none
	earlier  []*Summary // versions before it, newest first
	checks   string     // check lines of that version
	tokens   int64      // size of the summary block up to and including the check lines
}

// foldedRecords are the lines of folded records.
type foldedRecords struct {
	lines  map[int]Part // by place
	same   sameResults
	tokens int64 // of those that are shown, with their marks and days
}

// saidWords is the content of the block of the user's words.
type saidWords struct {
	list    []saying // candidates, newest first
	again   []saying // of these: changed statements that the pack shows without a mark
	missing []int    // places of older messages, which the block only counts
	unsaid  int      // messages that the block counts without quoting them
	records []string // texts of the records that the prompt shows
}

func (b *zoner) make(rooms zoneRules) error {
	major := b.z
	if len(b.before) > 0 {
		major = b.before[0]
	}
	s, err := b.mm.states.At(b.mm.Context, b.m, section.From(major.at), b.z.at)
	if ended := b.mm.Context.Err(); err != nil && ended != nil {
		return ended
	}
	b.mm.states.Pin(s)
	b.unread = err != nil || s.Unread() // the pack can do without a record
	b.sections, b.facts = s, b.mm.states.Notes(s)
	b.changed = changedOf(b.m, b.facts.Changes())

	room, words, err := b.room()
	if err != nil {
		return err
	}
	if all := rooms.all(); all > room { // key lines give way first
		rooms.lines -= min(all-room, rooms.lines/2)
	}
	if b.own.Summary != nil {
		if err := b.checkSummary(); err != nil {
			return err
		}
		own := b.ownBlock(&rooms) // unused tokens go to the user's words
		rooms.said, rooms.own = rooms.said+rooms.own-own, own
	}
	rooms = rooms.within(room)
	decided := b.decided(room)
	room -= int64(decided.Tokens)
	b.fold(int(rooms.folds))
	covered, whole, err := b.covered()
	if err != nil {
		return err
	}
	b.words.records = covered
	left := ctxabi.Span{From: b.f.from, To: b.z.boundary - 1}
	b.words.again = b.restated(left)
	for i := range b.words.again { // they use tokens of the key lines
		n := min(int64(b.c.CountCached(b.sayingLine(&b.words.again[i], saidCaps[0]))), rooms.lines)
		rooms.said, rooms.lines = rooms.said+n, rooms.lines-n
	}
	// The share of a block pays for the marks that it brings.
	// The user's words may also use half of the share of key lines.
	most, marks := rooms.said+words+rooms.lines/2, b.marksFor(InSaid)
	share := saidTokens{int(most), int(max(most, min(room*rulesShare/1000, room-rooms.own))),
		int(room + words - b.folds.tokens - rooms.own)}
	b.words.list, b.words.missing = b.sayings(left)
	said, saidAt := b.said(left, share.less(int(marks)+b.frame()))
	over := -rooms.said
	if said.Text != "" {
		over += int64(said.Tokens) + marks
		covered = b.add(said, covered)
	}
	if room += words; over < words { // the conclusions have what the user's words leave
		rooms.summary += words - max(0, over)
	} else if over > words { // rules take more than that
		rest := rooms.summary + rooms.state + rooms.lines
		rooms = rooms.times(max(0, rest+words-over), max(1, rest))
	}
	rooms.summary -= b.marksFor(InSummary)
	if summary := b.summary(left, rooms, saidAt); summary.Text != "" {
		covered = b.add(summary, covered)
	}
	if now := b.state(int(rooms.state-b.marksFor(InState)), int(rooms.lines)); now.Text != "" {
		covered = b.add(now, covered)
	}
	room -= b.taken()
	if decided.Text != "" {
		room -= int64(b.frame()) + b.marksFor(InDecided)
		covered = b.add(decided, covered)
	}
	b.fillUp(room, left, rooms, saidAt, covered, whole)
	b.label()
	b.dateFolds()
	return nil
}

// add adds a block, and its text to the covered ones.
func (b *zoner) add(p Part, covered []string) []string {
	b.z.blocks = append(b.z.blocks, p)
	return append(covered, p.Text)
}

// taken returns what the blocks and folded records take so far, with their marks and days.
func (b *zoner) taken() int64 {
	n := int64(b.markTokens(b.z.blocks...)) + b.folds.tokens
	for _, p := range b.z.blocks {
		n += int64(p.Tokens + b.frame())
	}
	return n
}

// fillUp distributes the remaining tokens: first to key lines, then to the user's words, the
// conclusions, and folded records.
func (b *zoner) fillUp(room int64, left ctxabi.Span, rooms zoneRules, said map[int]bool, covered []string, whole map[int]bool) {
	marks := b.marksFor(InLines) + int64(b.frame())
	lines := b.keyLines(int(room-marks), covered, whole)
	if more := room - marks - int64(lines.Tokens); more > lineTokens && b.words.unsaid > 0 {
		taken, shown := b.sayMore(left, more, said)
		if room, said = room-taken, shown; taken > 0 {
			lines = b.keyLines(int(room-marks), append(covered, b.z.blocks[0].Text), whole)
		}
	}
	if more := room - marks - int64(lines.Tokens); more > minRefold { // no more lines: the conclusions have what is left
		at := slices.IndexFunc(b.z.blocks, func(p Part) bool { return p.Zone == InSummary })
		if at >= 0 {
			was := b.z.blocks[at]
			rooms.summary = int64(was.Tokens) + more - b.own.tokens
			b.z.blocks[at] = b.summary(left, rooms, said)
			room -= int64(b.z.blocks[at].Tokens - was.Tokens)
			lines = b.keyLines(int(room-marks), append(covered, b.z.blocks[at].Text), whole)
		}
	}
	if lines.Text != "" {
		b.z.blocks = append(b.z.blocks, lines)
		room -= int64(lines.Tokens) + marks
	}
	if room > minRefold {
		b.fold(int(room + b.folds.tokens))
	}
}

// sayMore rebuilds the block of the user's words with up to more additional tokens. If the new
// block quotes more messages, it replaces the old block, and sayMore returns the additional tokens
// and the places of the quoted messages. Otherwise sayMore returns 0 and said, the old places.
func (b *zoner) sayMore(span ctxabi.Span, more int64, said map[int]bool) (taken int64, shown map[int]bool) {
	blocks, was, unsaid := b.z.blocks, b.taken(), b.words.unsaid
	rest := blocks
	if len(rest) > 0 && rest[0].Zone == InSaid {
		rest = rest[1:]
	}
	b.z.blocks = rest
	all := int(more+was-b.taken()-b.marksFor(InSaid)) - b.frame()
	p, shown := b.said(span, saidTokens{all, all, all})
	if b.words.unsaid >= unsaid {
		b.z.blocks, b.words.unsaid = blocks, unsaid
		return 0, said
	}
	b.z.blocks = append([]Part{p}, rest...)
	return b.taken() - was, shown
}

// room is what the zones may take in exact tokens: what the records that are shown leave of what
// the journal is to come to, and so little that the compaction frees what it must. words is what
// the user's words may take beyond that.
func (b *zoner) room() (room, words int64, err error) {
	at := *b.f
	at.N = b.z.at
	parts, total, err := b.mm.journal(b.m, &at, b.before, nil, b.c)
	if err != nil {
		return 0, 0, err
	}
	shown := int64(total + b.c.CountCached(Conversation))
	if len(b.before) == 0 {
		shown = int64(total + b.mm.legend(b.c).Tokens)
	}
	for i := range parts {
		if p := &parts[i]; p.Zone != InFull {
			shown += int64(b.frame())
		} else if p.From >= b.z.boundary { // the fold takes back by weight what it lowers later
			if k, ok := at.oddAt(p.From); ok {
				shown += max(0, at.scaled(at.odd[k].shown(at.odd[k].rule))-int64(p.Tokens))
			}
		}
	}
	if at.beyond > 0 {
		first, user := at.settled().keptImages(at.from, at.starts[0])
		shown += int64(first + user)
		for line := b.z.boundary; line <= at.N; line++ {
			n, err := b.beyond(line)
			if err != nil {
				return 0, 0, err
			}
			shown += n
		}
	}
	before, was := int64(0), b.f.beforeCompaction()
	was.N = b.z.at
	if b.f.heldAt == 0 {
		first := was
		first.starts = []start{{line: 1}}
		if before, err = b.mm.count(b.m, first.pieces(b.m), b.c); err != nil {
			return 0, 0, err
		}
		for line := 1; at.beyond > 0 && line <= at.N; line++ {
			n, err := b.beyond(line)
			if err != nil {
				return 0, 0, err
			}
			before += n
		}
	} else {
		for line := b.f.heldAt + 1; line <= at.N; line++ {
			r, err := b.mm.show(b.m, was.alive(b.m, line), b.c)
			if err != nil {
				return 0, 0, err
			}
			n, err := b.beyond(line)
			if err != nil {
				return 0, 0, err
			}
			before += int64(r.tokens) + n
		}
		before += b.f.held
	}
	most := before
	if b.f.Moved != byLateSummary {
		most -= b.f.settled().leastGain(b.f.starts[0])
	}
	room = max(0, min(b.f.settledWeight-b.f.settledWords, most)-shown)
	return room, max(0, min(b.f.settledWeight, most)-shown-room), nil
}

// group is where the group begins that ends with the record at a place: a call with all up to its last result.
func (b *zoner) group(end int) int {
	begin := end
	for at := end; at >= begin; at-- {
		if call := int(b.m.At(at).CallOf); call > 0 && call < begin && end-call < 4*OrphansTogether {
			begin = call
		}
	}
	return begin
}

// foldOne folds the record at a place; readable is false if it cannot be read. A record that stays
// whole has no line.
func (b *zoner) foldOne(at int) (p Part, readable bool) {
	if p, ok := b.folds.lines[at]; ok {
		return p, true
	}
	p = Part{Piece: Piece{Span: ctxabi.Span{From: at, To: at}, Kept: true, Zone: InFolds}}
	if !b.staysWhole(at) {
		r, ok := b.excerpt(at)
		if !ok {
			return p, false
		}
		cut := false
		if p.Text, cut = record.Fold(b.m, at, r, b.folds.same.of(b.m, at, r)); cut {
			p.How = ByFold
		}
		p.Text = ctxabi.EscapeInline(b.changed.markFolded(at, p.Text))
		p.Tokens = b.c.CountCached(p.Text)
	}
	b.folds.lines[at] = p
	return p, true
}

// fold folds records from the boundary backwards, as many groups as there is room for.
func (b *zoner) fold(room int) {
	if b.f.Rules.without.Has(section.Folded) {
		return
	}
	var back []Part // newest first
	marks := b.markTokens(Part{Piece: Piece{Zone: InFolds}})
	left, last := room-marks, ""
	end := b.z.boundary - 1
	for end >= b.z.from {
		begin := max(b.group(end), b.z.from)
		var group []Part
		n, readable, day := 0, true, last
		for at := end; at >= begin && readable; at-- {
			var p Part
			if p, readable = b.foldOne(at); !b.staysWhole(at) {
				n += p.Tokens + b.frame()
				if on := b.day(at); on != "" && on != day {
					day = on
					n += b.c.CountCached(ctxabi.DayHeading + on + "\n")
				}
			}
			group = append(group, p)
		}
		if n > left || !readable {
			break
		}
		left, last = left-n, day
		back = append(back, group...)
		end = begin - 1
	}
	if len(back) > 0 {
		slices.Reverse(back)
		b.z.From, b.z.folds, b.folds.tokens = end+1, back, int64(room-left)
	}
}
