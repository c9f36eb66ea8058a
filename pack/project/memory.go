package project

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress/notes"
)

// MaxMemory is the most bytes of memory.md.
const MaxMemory = 64 << 10

// sections are those of a memory in their order, with how much of the room each may take, in hundredths.
var sections = []struct {
	title string
	share int
	of    func(*Digest) []Entry
}{
	{"Pinned", 30, func(d *Digest) []Entry { return d.Pinned }},
	{"Open", 15, func(d *Digest) []Entry { return d.Open }},
	{"Decided", 20, func(d *Digest) []Entry { return d.Decided }},
	{"Known", 25, func(d *Digest) []Entry { return d.Known }},
	{"Last answer", 10, nil},
}

// Digests collects the digests of a workspace's sessions.
type Digests struct {
	Dir  string // the workspace
	News int    // number of sessions that added something new

	list   []Digest
	added  int
	done   int             // finished items from sessions without news
	said   map[string]bool // by section and words
	answer bool
}

// maxFinished limits the finished items from sessions without news.
const maxFinished = 4096

// Add adds the digest of one session. The caller adds the most recently written session first. From
// a session without news, Add keeps only the finished items and a last answer, so that such
// sessions do not displace others.
func (a *Digests) Add(d Digest) {
	a.added++
	if a.said == nil {
		a.said = map[string]bool{}
	}
	news := false
	for _, s := range sections[:len(sections)-1] {
		for _, e := range s.of(&d) {
			if key := s.title + " " + wordsOf(e.Text); !a.said[key] {
				a.said[key], news = true, true
			}
		}
	}
	if news {
		a.News++
	} else {
		d = Digest{Session: d.Session, Answer: d.Answer, Changes: d.Changes, Done: d.Done[:min(len(d.Done), maxFinished-a.done)]}
		a.done += len(d.Done)
	}
	if a.answer {
		d.Answer = nil
	}
	a.answer = a.answer || d.Answer != nil
	if news || d.Answer != nil || len(d.Done)+len(d.Changes) > 0 {
		a.list = append(a.list, d)
	}
}

// Memory returns the memory of the workspace as Markdown. most is the maximum size in bytes, older
// the number of sessions that were not added. Memory returns "" if no session contributes anything.
func (a *Digests) Memory(older, most int) string {
	head := "# Memory of " + Line(a.Dir) + "\n"
	if older > 0 {
		head += fmt.Sprintf("Of its %d newest sessions; %d older ones are not part of it.\n", a.added, older)
	}
	room := most - len(head)
	a.change()
	var b strings.Builder
	for _, s := range sections {
		w := section{room: room * s.share / 100}
		if s.of == nil {
			w.answer(a.list)
		} else {
			w.entries(a.list, s.of, s.title == "Open")
		}
		if w.b.Len() > 0 {
			fmt.Fprintf(&b, "\n## %s\n%s", s.title, w.b.String())
		}
	}
	switch {
	case b.Len() > 0:
		return head + b.String()
	case older > 0:
		return head + "None of these says anything to remember.\n"
	}
	return ""
}

// change removes decisions and facts that the user changed in a newer session.
func (a *Digests) change() {
	var changes notes.Changes
	type entry struct{ list, number int }
	var entries []entry
	for i := range slices.Backward(a.list) {
		d := &a.list[i]
		for _, text := range d.Changes {
			entries = append(entries, entry{-1, 0})
			changes.Add(notes.Position{Line: len(entries)}, []notes.Statement{{Text: text}})
		}
		for k, e := range slices.Concat(d.Decided, d.Known) {
			entries = append(entries, entry{i, k})
			changes.Add(notes.Position{Line: len(entries)}, []notes.Statement{{Text: e.Text, Mute: true}})
		}
	}

	gone := map[entry]bool{}
	for _, c := range changes.All() {
		gone[entries[c.At.Line-1]] = true
	}
	for i := range a.list {
		d, k := &a.list[i], -1
		left := func(e Entry) bool { k++; return gone[entry{i, k}] }
		d.Decided, d.Known = slices.DeleteFunc(slices.Clone(d.Decided), left), slices.DeleteFunc(slices.Clone(d.Known), left)
	}
}

// section is one section of a memory while it is written.
type section struct {
	b    strings.Builder
	room int // bytes
	left int // entries that did not fit
}

// sectionHead is about how many bytes a heading takes, and the line that says what is left out.
const sectionHead = 80

// entries writes what of returns of each digest, each in other words than those before. An item that a newer
// session has done is open no more.
func (w *section) entries(digests []Digest, of func(*Digest) []Entry, items bool) {
	said := map[string]bool{}
	for i := range digests {
		d := &digests[i]
		for _, e := range of(d) {
			if key := wordsOf(e.Text); !said[key] {
				said[key] = true
				w.add(d.Session, e)
			}
		}
		if items {
			for _, done := range d.Done {
				said[done] = true
			}
		}
	}
	if w.left > 0 {
		fmt.Fprintf(&w.b, "- … and %d older\n", w.left)
	}
}

// answer writes the last answer of the session that was written to last and has one.
func (w *section) answer(digests []Digest) {
	for i := range digests {
		if a := digests[i].Answer; a != nil {
			e := *a
			e.Text = clip(e.Text, max(0, w.room-sectionHead-len(digests[i].Session)-strings.Count(e.Text, "\n")*2))
			w.add(digests[i].Session, e)
			return
		}
	}
}

// add writes one entry if there is room.
func (w *section) add(session string, e Entry) {
	var b strings.Builder
	for i, line := range strings.Split(e.Text, "\n") {
		switch line = strings.TrimRight(strings.Map(printable, line), " \t"); {
		case i == 0:
			b.WriteString("- " + line)
		case line == "":
			b.WriteString("\n")
		default:
			b.WriteString("\n  " + line)
		}
	}
	fmt.Fprintf(&b, " (%s %s)\n", session, Line(clip(e.Source, maxSource)))
	if w.left > 0 || w.b.Len()+b.Len()+sectionHead > w.room {
		w.left++
		return
	}
	w.b.WriteString(b.String())
}

// Line returns a text as one line: without line breaks and other control characters.
func Line(text string) string { return strings.Map(printable, text) }

// printable drops control characters.
func printable(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f {
		return -1
	}
	return r
}
