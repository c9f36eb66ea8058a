package project

import (
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/compress"
)

// Version is raised with whatever makes the digest of the same session another one: digests are kept on disk.
const Version = 3

// Bounds of a digest.
const (
	maxEntries = 128  // of a section
	maxDone    = 256  // items that are done
	maxText    = 600  // bytes of an entry
	maxPin     = 4096 // of a pin, and of an answer
	maxSource  = 200  // of a source, which a note of an agent may name
)

// Entry is one thing that a session says.
type Entry struct {
	Text   string `json:"text"`
	Source string `json:"source"` // within the session: "messages:12", "context/pinned/rules.md"
}

// Digest is what one session brings to the memory of its workspace, the newest first in each section.
type Digest struct {
	Session string   `json:"-"` // its agent and its name: "coder/s1"
	Pinned  []Entry  `json:"pinned,omitempty"`
	Open    []Entry  `json:"open,omitempty"`
	Done    []string `json:"done,omitempty"` // what items that are done say, as wordsOf returns it
	Decided []Entry  `json:"decided,omitempty"`
	Known   []Entry  `json:"known,omitempty"`
	Changes []string `json:"changes,omitempty"` // sentences of the user that change statements
	Answer  *Entry   `json:"answer,omitempty"`  // the last that says something
}

// AddPin adds a pin, AddOpen an item that is to do, AddDone one that is done, AddDecided a decision, AddKnown a
// fact. The newest comes first; what is beyond the bounds of a digest is not added.
func (d *Digest) AddPin(text, source string) { d.Pinned = add(d.Pinned, text, source, maxPin) }

// AddOpen adds an item that is to do; see [Digest.AddPin].
func (d *Digest) AddOpen(text, source string) { d.Open = add(d.Open, text, source, maxText) }

// AddDecided adds a decision; see [Digest.AddPin].
func (d *Digest) AddDecided(text, source string) { d.Decided = add(d.Decided, text, source, maxText) }

// AddKnown adds a fact; see [Digest.AddPin].
func (d *Digest) AddKnown(text, source string) { d.Known = add(d.Known, text, source, maxText) }

// AddDone adds an item that is done; see [Digest.AddPin].
func (d *Digest) AddDone(text string) {
	if len(d.Done) < maxDone {
		d.Done = append(d.Done, wordsOf(text))
	}
}

// AddChange adds a sentence of the user that changes a statement. The oldest comes first.
func (d *Digest) AddChange(text string) {
	if len(d.Changes) == maxEntries {
		d.Changes = d.Changes[1:]
	}
	d.Changes = append(d.Changes, clip(text, maxText))
}

// SetAnswer sets the last answer.
func (d *Digest) SetAnswer(text, source string) {
	d.Answer = &Entry{clip(strings.TrimSpace(text), maxPin), source}
}

func add(list []Entry, text, source string, most int) []Entry {
	if text = strings.TrimSpace(text); text == "" || len(list) == maxEntries {
		return list
	}
	return append(list, Entry{clip(text, most), source})
}

// clip cuts a text to so many bytes.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return compress.Clip(text, most)
}

// Size returns about how many bytes of memory the digest takes.
func (d *Digest) Size() int {
	n := 256
	for _, list := range [][]Entry{d.Pinned, d.Open, d.Decided, d.Known} {
		for i := range list {
			n += 48 + len(list[i].Text) + len(list[i].Source)
		}
	}
	for _, text := range d.Done {
		n += 16 + len(text)
	}
	for _, text := range d.Changes {
		n += 16 + len(text)
	}
	if d.Answer != nil {
		n += len(d.Answer.Text)
	}
	return n
}

// wordsOf returns the words of a text in lower case with single blanks, by which repeats are found.
func wordsOf(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}
