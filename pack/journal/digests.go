package journal

import (
	"cmp"
	"maps"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/compress/result"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section"
	"github.com/ctxfs/ctxfs/pack/section/runs"
)

// Numbers of digests.
const (
	keptDigests   = 2 * WindowRecords
	maxVocabulary = 1 << 19 // words and lines; then all is read again
	headTarget    = 72      // bytes of what the head of a part names
	manyArguments = 400     // bytes of the arguments of a call up to which they are one line
)

// acknowledges reports whether p is the success message of a call that writes, changes, or removes
// a file. Such a message adds nothing to its call.
func (p *digestPart) acknowledges() bool {
	return !p.failed && (p.use == derived.FileWrites || p.use == derived.FileChanges || p.use == derived.FileRemoves)
}

// digests are what zones need to know of the newest records: each of them is read once.
type digests struct {
	words compress.Vocabulary
	kept  map[int]*digest // by place
	size  int

	first, last  int // of the places that prepare went through
	bytesBetween int // of their records
}

// digest is what zones need to know of one record. It does not change.
type digest struct {
	parts  []digestPart
	result bool
}

// digestPart is what a record says, one of its calls, or what is answered to one.
type digestPart struct {
	*compress.Digest
	head    string // the tool and what it works on; "user"; "" for what the assistant says
	file    string // that the call works on; "": none
	use     derived.FileUse
	whole   bool                        // it shows the file as it is after the call, from the first line to the last
	removed []int32                     // numbers of the lines that the call takes out of the file
	setting *runs.Setting               // what a call sets; nil for most
	states  map[int32][]derived.Subject // by the numbers of lines that the assistant wrote
	failed  bool
	report  bool // of another agent
}

// limit forgets all digests once they have too many words and lines.
func (d *digests) limit() {
	if d.words.Len() > maxVocabulary {
		*d = digests{}
	}
}

// read returns the digest of the record at a place; ok is false if it cannot be read. All digests
// since the last limit have the same numbers.
func (d *digests) read(m record.Records, at int) (*digest, bool) {
	if one := d.kept[at]; one != nil {
		return one, true
	}
	r, err := record.ExcerptOf(m, at)
	if err != nil || record.IsUnread(m, at) {
		return &digest{}, false
	}
	one := &digest{result: r.Result}
	asked := callsOf(m, at, r)
	if r.Result {
		for i := range r.Answers {
			one.parts = append(one.parts, d.answer(&r.Answers[i], r.Failed, asked[i]))
		}
	} else if r.Text != "" {
		head, role := "", "assistant"
		if record.IsUser(m.At(at)) {
			head, role = "user", "user"
		}
		p := digestPart{Digest: d.digestQuotes(r.Text, role), head: head}
		if role == "assistant" {
			p.states = statesOf(p.Digest)
		}
		one.parts = append(one.parts, p)
	}
	for _, c := range r.Calls {
		one.parts = append(one.parts, d.call(c))
	}
	d.keep(at, one)
	return one, true
}

// prepare reads the newest record, and some of those of the window before it that were not read yet, so that the next compaction finds
// nearly all of them read.
func (d *digests) prepare(m record.Records, n int) {
	if n != d.last && n != d.last+1 {
		d.first, d.bytesBetween = n+1, 0
	}
	if d.last = n; d.kept[n] == nil {
		d.limit()
		d.read(m, n)
		d.bytesBetween += int(m.At(n).Len)
	}
	d.first = min(d.first, n)
	for range ReadAhead {
		if d.first <= max(1, n-WindowRecords) || d.bytesBetween > windowBytes {
			return
		}
		d.first--
		d.bytesBetween += int(m.At(d.first).Len)
		d.limit()
		d.read(m, d.first)
	}
}

// ReadAhead is how many records one build reads for the digests of a compaction to come, and how many for its files
// and runs.
const ReadAhead = 16

func (d *digests) keep(at int, one *digest) {
	if d.kept == nil {
		d.kept = map[int]*digest{}
	}
	if len(d.kept) >= 2*keptDigests {
		maps.DeleteFunc(d.kept, func(old int, one *digest) bool {
			if far := old < at-keptDigests || old > at+keptDigests; far {
				d.size -= one.size()
				return true
			}
			return false
		})
	}
	d.kept[at] = one
	d.size += one.size()
}

func (o *digest) size() int {
	n := 128
	for i := range o.parts {
		p := &o.parts[i]
		n += p.Size() + len(p.head) + len(p.file) + 4*len(p.removed) + 96*len(p.states) + 96
	}
	return n
}

// bytes is about how much memory d takes.
func (d *digests) bytes() int { return d.size + 24*d.words.Len() }

// callsOf returns the call that each answer in a record is to; a call without a name where it is not known.
func callsOf(m record.Records, at int, r record.Excerpt) []ctxabi.Call {
	out := make([]ctxabi.Call, len(r.Answers))
	for i := range out {
		out[i].Name = r.Answers[i].Tool
	}
	a, log := record.AddressOf(m, at), m
	if t, ok := m.(*record.Merged); ok {
		log = t.Log(a)
	}
	call := int(log.At(a.Line).CallOf)
	if call == 0 || len(out) == 0 {
		return out
	}
	if a.Event {
		if asked, err := record.EventCall(log, call); err == nil {
			out[0] = ctxabi.Call{Name: cmp.Or(asked.Name, out[0].Name), Arguments: asked.Arguments}
		}
		return out
	}
	calls, err := r.Asked, error(nil)
	if !calls.Known() {
		calls, err = record.CallsAt(log, call)
	}
	if err == nil {
		for i := range out {
			out[i].Name, out[i].Arguments = cmp.Or(calls.Name(r.Answers[i].Call), out[i].Name), calls.Arguments(r.Answers[i].Call)
		}
	}
	return out
}

// digestLine digests the text of a call that fits on one line.
func (d *digests) digestLine(call string) *compress.Digest {
	return d.words.Digest(call, compress.Unit{To: len(call), Plain: true})
}

// digestQuotes digests the quotable parts of a text. role has the values of [derived.Quotes].
func (d *digests) digestQuotes(text, role string) *compress.Digest {
	text = compress.WithoutNumbers(text)
	return d.words.Digest(text, derived.Quotes(text, role)...)
}

// statesOf returns the subjects of the lines of d that have some.
func statesOf(d *compress.Digest) map[int32][]derived.Subject {
	states := map[int32][]derived.Subject{}
	for i, n := range d.Numbers() {
		if subjects := derived.Subjects(d.Line(i)); len(subjects) > 0 {
			states[n] = subjects
		}
	}
	return states
}

// answer is what is answered to one call.
func (d *digests) answer(a *derived.Answer, failed bool, asked ctxabi.Call) digestPart {
	p := digestPart{Digest: d.digestQuotes(a.Text, ""), head: headOf(asked), failed: failed || a.Failed,
		report: compress.IsSubAgent(asked.Name)}
	p.file, p.use = derived.FileOf(derived.Call{Name: asked.Name, Arguments: asked.Arguments})
	if p.use == derived.FileChanges || p.use == derived.FileWrites {
		p.failed = p.failed || toolcall.TellsFailure(a.Text)
	}
	p.whole = p.use == derived.FileReads && !p.failed && len(a.Text) < record.LongText &&
		result.ShowsAll(asked.Arguments, a.Text)
	return p
}

// oldTexts are arguments of calls with what they take out of a file.
var oldTexts = compress.WordSet("old_string oldText old_str oldString old_text old search find pattern")

// call is one call. Its arguments are read as texts; what it takes out of a file is no line of it.
func (d *digests) call(c ctxabi.Call) digestPart {
	p := digestPart{head: headOf(c)}
	p.file, p.use = derived.FileOf(derived.Call{Name: c.Name, Arguments: c.Arguments})
	p.whole = p.use == derived.FileWrites
	if set, ok := runs.SettingOf(c.Name, c.Arguments); ok {
		p.setting = &set
	}
	if compress.IsListKeeper(c.Name) { // another block shows the to-do list
		p.Digest = d.words.Digest("")
		return p
	}
	args := gjson.Parse(c.Arguments)
	if !args.IsObject() || !gjson.Valid(c.Arguments) {
		p.Digest = d.words.Digest(c.Name + " " + c.Arguments)
		return p
	}
	if len(c.Arguments) <= manyArguments && !strings.Contains(c.Arguments, `\n`) {
		p.Digest, p.head = d.digestLine(c.Name+" "+c.Arguments), "" // the line contains the tool's name
		return p
	}
	var text, short strings.Builder
	var gone []string
	section.EachText(args, "", func(key, value string) {
		switch {
		case p.use == derived.FileChanges && oldTexts[key]:
			gone = append(gone, value)
		case strings.Contains(value, "\n") || len(value) > manyArguments:
			text.WriteString(value + "\n")
		case value != p.file && short.Len() < 4*manyArguments:
			short.WriteString(" \"" + key + "\":\"" + value + "\"")
		}
	})
	if short.Len() > 0 {
		text.WriteString(c.Name + short.String() + "\n")
	}
	p.Digest = d.digestQuotes(text.String(), "")
	if len(gone) > 0 {
		here := map[int32]bool{}
		for _, n := range p.Numbers() {
			here[n] = true
		}
		for _, n := range d.digestQuotes(strings.Join(gone, "\n"), "").Numbers() {
			if !here[n] {
				p.removed = append(p.removed, n)
			}
		}
	}
	return p
}

// WithoutRemoved returns the arguments of a call without the texts that it removes from a file.
func WithoutRemoved(c ctxabi.Call) string {
	_, use := derived.FileOf(derived.Call{Name: c.Name, Arguments: c.Arguments})
	if use != derived.FileChanges || !gjson.Valid(c.Arguments) {
		return c.Arguments
	}
	return withoutRemoved(gjson.Parse(c.Arguments))
}

func withoutRemoved(v gjson.Result) string {
	if !v.IsObject() && !v.IsArray() {
		return v.Raw
	}
	var parts []string
	v.ForEach(func(key, value gjson.Result) bool {
		switch {
		case v.IsArray():
			parts = append(parts, withoutRemoved(value))
		case !oldTexts[key.Str]:
			parts = append(parts, key.Raw+":"+withoutRemoved(value))
		}
		return true
	})
	if v.IsArray() {
		return "[" + strings.Join(parts, ",") + "]"
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// headOf names a call: the tool and what it works on, "read src/a.go".
func headOf(c ctxabi.Call) string {
	name := record.OneLine(record.ShortName(c.Name))
	args := gjson.Parse(c.Arguments)
	target := ""
	if args.IsObject() {
		for _, key := range append([]string{"command", "cmd", "script"}, compress.PathKeys...) {
			if v := args.Get(key); v.Type == gjson.String && v.Str != "" && target == "" {
				target = v.Str
			}
		}
		if target == "" {
			args.ForEach(func(_, v gjson.Result) bool {
				if v.Type == gjson.String || v.Type == gjson.Number {
					target = v.String()
				}
				return target == ""
			})
		}
	}
	target = strings.TrimSpace(target)
	end, _ := compress.LineEnd(target)
	if target = compress.Clip(target[:end], headTarget); target == "" {
		return name
	}
	return strings.ReplaceAll(strings.TrimSpace(name+" "+record.OneLine(target)), "]", ")")
}
