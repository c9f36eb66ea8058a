package adapter

import (
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

// Keys under which transcripts store conversation text. A string under a key of textKeys is a text.
// Arguments and results may have any shape, so every string below a key of dataKeys is a text. So
// is every string in an object under "text" or "content" that has no such keys itself. Values under
// otherKeys and strings under nameKeys do not belong to the conversation.
var (
	textKeys = keySet("text content thinking thought thoughts reasoning reasoning_content prompt response refusal " +
		"transcript summary observation message messages parts query answer body instructions system system_prompt " +
		"value say error errorText details history conversation conversations")
	dataKeys  = keySet("input args arguments output result results")
	otherKeys = keySet("tools functions tool_choice toolConfig metadata providerMetadata providerOptions usage schema " +
		"response_format signature settings model_info tool_definitions mapping import resultDisplay")
	nameKeys = keySet("type kind status state role id name model cwd") // of strings that say what something is
)

func keySet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

const (
	minText      = 4  // bytes of a text that counts as unread; a shorter one may be in a message by chance
	maxTextDepth = 64 // levels of nesting in which texts are looked for
)

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// place is the position of a value in a transcript record.
type place struct {
	path           string // the keys that lead to it, such as ".args.query"; lists have no keys
	isText, isData bool   // a string there is a text; every string below is one
	depth          int
}

// eachText calls do with the path and value of each text in v. p is the position of v.
func eachText(v gjson.Result, p place, do func(path, text string)) {
	if p.depth++; p.depth > maxTextDepth {
		return
	}
	isText := p.isText || p.isData
	switch {
	case v.Type == gjson.String && isText && len(v.Str) >= minText && strings.ContainsFunc(v.Str, isWord):
		do(p.path, v.Str)
	case v.IsArray():
		v.ForEach(func(_, child gjson.Result) bool {
			eachText(child, p, do)
			return true
		})
	case v.IsObject():
		v.ForEach(func(k, child gjson.Result) bool {
			key := k.Str
			if !otherKeys[key] && key != LiftKey && (child.Type != gjson.String || !nameKeys[key]) {
				ofText := (key == "text" || key == "content") && child.IsObject() && !hasTextKey(child)
				eachText(child, place{p.path + "." + key, textKeys[key], p.isData || ofText || dataKeys[key], p.depth},
					do)
			}
			return true
		})
	}
}

func hasTextKey(o gjson.Result) (has bool) {
	o.ForEach(func(k, _ gjson.Result) bool {
		has = textKeys[k.Str] || dataKeys[k.Str]
		return !has
	})
	return has
}

// eachString calls do with each string in v. If a string contains JSON, it also visits the strings
// in it.
func eachString(v gjson.Result, depth int, do func(string)) {
	switch {
	case depth > maxTextDepth:
	case v.Type == gjson.String:
		do(v.Str)
		s := strings.TrimLeft(v.Str, " \t\r\n")
		if (strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")) && gjson.Valid(s) {
			eachString(gjson.Parse(s), depth+1, do)
		}
	case v.IsArray() || v.IsObject():
		v.ForEach(func(_, child gjson.Result) bool {
			eachString(child, depth+1, do)
			return true
		})
	}
}

// Unread returns the distinct key paths (".parts.text") of the texts in source that record does not
// contain.
func Unread(source, record []byte) (paths []string) {
	var said map[string]bool
	eachText(gjson.ParseBytes(source), place{}, func(path, text string) {
		if said == nil {
			said = map[string]bool{}
			eachString(gjson.ParseBytes(record), 0, func(s string) { said[s] = true })
		}
		if !said[text] && !slices.Contains(paths, path) && (len(paths) >= maxCompared || !isPartOf(said, text)) {
			paths = append(paths, path)
		}
	})
	return paths
}

// maxCompared limits the substring searches per record: further unread texts count as unread unless
// they equal a whole string.
const maxCompared = 16

func isPartOf(said map[string]bool, text string) bool {
	for s := range said {
		if strings.Contains(s, text) {
			return true
		}
	}
	return false
}

// ReportsUnread wraps the import of a format. The wrapped import reports each transcript record
// that has a text which no message contains. The session stores such texts in the rest of a stamp
// or in an event, where no model reads them. It returns the errors of read.
func ReportsUnread(f *Format, read func(*Input, Output) error) func(*Input, Output) error {
	return func(in *Input, out Output) error {
		u := &unread{Output: out, format: f, said: map[uint64]bool{}}
		looked := *in
		looked.Said = func(source []byte) { u.hear(gjson.ParseBytes(source), map[string]bool{}) }
		looked.Seen = func(chain, id string) bool {
			seen := in.Seen(chain, id)
			u.grows = seen && u.asked || u.grows && u.asked
			u.asked = u.asked || !seen
			return seen
		}
		if err := read(&looked, u); err != nil {
			return err
		}
		u.report()
		return nil
	}
}

// unread is an output that compares the texts of a transcript with the texts of the messages.
type unread struct {
	Output
	format *Format
	said   map[uint64]bool // the lines of messages, by their hashes
	open   []unreadRecord

	asked, grows bool // since the last record: a source is new; a part of it is in the session already
}

// unreadRecord is a record with texts that its message does not contain.
type unreadRecord struct {
	loss  Loss
	texts []uint64 // their lines
}

var unreadSeed = maphash.MakeSeed()

// sumsOf returns the hash of each line of a text. It ignores surrounding white space.
func sumsOf(text string) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !yield(maphash.String(unreadSeed, line)) {
				return
			}
		}
	}
}

func (u *unread) Record(r Record) error {
	r = r.stamped()
	u.note(r)
	u.asked, u.grows = false, false
	return u.Output.Record(r)
}

// kindOf returns the event type without the format name. foreign is false if the record is not an
// event of this format.
func (f *Format) kindOf(r Record) (kind string, foreign bool) {
	if !r.Event {
		return "", false
	}
	return strings.CutPrefix(r.EventType(), f.Name+"/")
}

// isNote reports whether an event does not belong to the conversation or the format reports it
// itself.
func (f *Format) isNote(r Record, s Stamp) bool {
	kind, foreign := f.kindOf(r)
	first, _, _ := strings.Cut(kind, "/")
	return foreign && (first == "other" || slices.Contains(f.Notes, first) || slices.Contains(f.Notes, kind)) ||
		f.IsNote != nil && f.IsNote(gjson.ParseBytes(s.Rest))
}

// notesPath reports whether the text at a path does not belong to the conversation.
func (f *Format) notesPath(path string) bool {
	return slices.ContainsFunc(f.Notes, func(note string) bool {
		return strings.HasPrefix(note, ".") && strings.HasPrefix(path+".", note+".")
	})
}

// hear adds the strings in v to own and their lines to the known lines of messages.
func (u *unread) hear(v gjson.Result, own map[string]bool) {
	eachString(v, 0, func(text string) {
		own[text] = true
		for line := range sumsOf(text) {
			u.said[line] = true
		}
	})
}

func (u *unread) note(r Record) {
	s, ok := r.Stamp()
	if !ok {
		return
	}
	own := map[string]bool{}
	kind, foreign := u.format.kindOf(r)
	whole := gjson.ParseBytes(r.Line)
	if !foreign {
		whole.ForEach(func(key, v gjson.Result) bool {
			if key.Str != StampKey {
				u.hear(v, own)
			}
			return true
		})
	}
	compacts := r.Compacted != nil || r.Event && whole.Get("type").Str == "compaction"
	if u.grows || r.Kept() || compacts || foreign && whole.Get("abandoned").Bool() || r.Event && u.format.isNote(r, s) {
		return
	}
	open := unreadRecord{loss: Loss{Where: r.Where}}
	key := ""
	eachText(gjson.ParseBytes(s.Rest), place{}, func(path, text string) {
		if own[text] || u.format.notesPath(path) || len(open.texts) < maxCompared && isPartOf(own, text) {
			return
		}
		for line := range sumsOf(text) {
			key, open.texts = path[strings.LastIndexByte(path, '.')+1:], append(open.texts, line)
		}
	})
	if open.texts == nil {
		return
	}
	if r.Where == "" && len(s.At) > 0 {
		open.loss.Where = fmt.Sprintf("record %d", s.At[0]+1)
	}
	switch open.loss.What = fmt.Sprintf("its text in %q is not read; it is kept beside the message", key); {
	case kind == "document":
		open.loss = Loss{"the document",
			fmt.Sprintf("the text in %q beside the messages is not read; it is kept in an event", key)}
	case foreign:
		open.loss.What = fmt.Sprintf("a record of type %q is not read; its text is kept in an event", kind)
	}
	u.open = append(u.open, open)
}

// report reports each record with a text line that no message contains.
func (u *unread) report() {
	for _, r := range u.open {
		if slices.ContainsFunc(r.texts, func(text uint64) bool { return !u.said[text] }) {
			u.Loss(r.loss)
		}
	}
}
