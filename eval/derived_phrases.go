package eval

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress/notes"
)

// derivedPhrases is how people and models state what lasts, and how they say what only looks like it. The file says how it is written.
//
//go:embed derived_phrases.txt
var derivedPhrases string

// Half is which of the phrases are planted.
type Half string

// The halves: whoever works on the finders looks at the first, and judges by the second.
const (
	Tuned   Half = "tuned on"
	HeldOut Half = "held out"
)

// phrase is one thing that is planted: some turns, and what notes should say of them.
type phrase struct {
	kind  string // constraint, preference, value, decision, todo, distractor
	id    uint64
	turns []turn
}

// turn is one record of a phrase.
type turn struct {
	who   string // a role, "call" with the tool's name first, or "event" with the type first
	text  string // marks taken out, names filled in
	wants []string
	gone  []string
}

const distractorKind = "distractor"

// phrasesOf returns the phrases of one half in the order of the file. Of each kind every second one is held out, in the order of
// a hash of their text, so that neighbours in the file do not decide it.
func phrasesOf(half Half) ([]phrase, error) {
	byKind := map[string][]string{}
	var kinds []string
	for entry := range strings.SplitSeq(derivedPhrases, "\n\n") {
		entry = strings.TrimSpace(entry)
		if entry == "" || strings.HasPrefix(entry, "#") {
			continue
		}
		kind, turns, ok := strings.Cut(entry, "\n")
		if !ok {
			return nil, fmt.Errorf("a phrase has no turns: %q", entry)
		}
		if byKind[kind] == nil {
			kinds = append(kinds, kind)
		}
		byKind[kind] = append(byKind[kind], turns)
	}
	var out []phrase
	for _, kind := range kinds {
		list := byKind[kind]
		slices.SortFunc(list, func(a, b string) int {
			x, y := hashOf(a), hashOf(b)
			if x < y {
				return -1
			}
			return 1
		})
		for i, turns := range list {
			if (i%2 == 1) == (half == HeldOut) {
				p, err := readPhrase(kind, turns)
				if err != nil {
					return nil, err
				}
				out = append(out, p)
			}
		}
	}
	return out, nil
}

func hashOf(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// speakers are what a line of a turn may begin with.
var speakers = []string{"user", "assistant", "system", "developer", "tool", "call", "event"}

func readPhrase(kind, text string) (phrase, error) {
	p := phrase{kind: kind, id: hashOf(text)}
	for line := range strings.Lines(text) {
		who, rest, _ := strings.Cut(line, ": ")
		if slices.Contains(speakers, who) {
			p.turns = append(p.turns, turn{who: who, text: rest})
		} else if n := len(p.turns); n > 0 {
			p.turns[n-1].text += line
		} else {
			return p, fmt.Errorf("a phrase of kind %s begins with %q, not with a speaker", kind, line)
		}
	}
	return p, nil
}

// names fill the braces of phrases.
var names = map[string][]string{
	"port": {"8443", "5433", "9090", "3001", "6380"}, "port2": {"9444", "7001", "15432"},
	"dir": {"internal/gen/", "db/migrations/", "web/static/", "pkg/wire/testdata/", "third_party/"}, "file": {"src/session.ts", "config/app.yaml", "auth/token.go", "Makefile.inc", "lib/retry.py"},
	"branch": {"main", "release/2.4", "develop", "stable"}, "lib": {"zap", "axios", "pgx", "requests", "zustand"}, "lib2": {"slog", "got", "sqlx", "httpx", "redux"},
	"ver": {"3.11", "1.21.4", "v18", "2.0.0"}, "name": {"billing", "sync-worker", "importer", "tenant_map"}, "person": {"Ana", "Priya", "Tom Becker", "Lena"},
	"n": {"12", "40", "250", "15", "90"}, "n2": {"3", "19", "21"}, "id": {"ord_58123", "HX72KQ", "u-9931", "acme42"}, "mail": {"ops@example.org", "lena.k@example.com"},
	"env": {"production", "staging", "the live cluster"}, "db": {"orders_test", "pg-main", "events_dev"}, "url": {"https://api.example.org/v2", "http://10.0.3.7:8080", "status.example.net"},
	"tool": {"make lint", "skaffold", "tox", "cargo clippy"},
}

// fill returns the phrase with names that a seed chooses, and its marks read.
func (p *phrase) fill(rng *rand.Rand) phrase {
	chosen := map[string]string{}
	var keys []string
	for key := range names {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		chosen[key] = names[key][rng.IntN(len(names[key]))]
	}
	out := phrase{kind: p.kind, id: p.id}
	for _, t := range p.turns {
		text := strings.TrimSpace(t.text)
		for _, key := range keys {
			text = strings.ReplaceAll(text, "{"+key+"}", chosen[key])
		}
		f := turn{who: t.who, text: text}
		f.wants, f.text = takeMarks(f.text, "[[", "]]")
		f.gone, f.text = takeMarks(f.text, "((", "))")
		out.turns = append(out.turns, f)
	}
	return out
}

// takeMarks returns what stands between pairs of marks, and the text without them.
func takeMarks(text, open, shut string) (marked []string, rest string) {
	for {
		before, after, ok := strings.Cut(text, open)
		inner, behind, closed := strings.Cut(after, shut)
		if !ok || !closed {
			return marked, rest + text
		}
		marked = append(marked, inner)
		rest += before + inner
		text = behind
	}
}

// said is the turn as a record.
func (t *turn) said() notes.Record {
	s := notes.Record{Role: t.who, Text: t.text}
	switch t.who {
	case "tool":
		s.Result, s.Tool = true, "read"
	case "call":
		name, args, _ := strings.Cut(t.text, " ")
		s = notes.Record{Role: "assistant", Calls: []notes.Call{{Name: name, Arguments: args}}}
	case "event":
		s.Type, s.Text, _ = strings.Cut(t.text, " ")
	}
	s.Bytes = len(s.Text)
	return s
}

// before and after are what people write around what they want to be kept in mind.
var (
	before = []string{"Thanks, that looks better.", "hi again", "Good, the first part works on my machine.", "I looked at the diff.", "Back from the meeting."}
	after  = []string{"Have a look at the second test when you get there.", "Thanks!", "I'll read your answer later.", "The rest is up to you."}
)

// around puts the phrase into the flow of what somebody writes; phrases of several turns stay as they are.
func (p *phrase) around(rng *rand.Rand) {
	b, a := rng.IntN(2*len(before)), rng.IntN(3*len(after))
	if len(p.turns) != 1 || p.turns[0].who != "user" {
		return
	}
	t := &p.turns[0]
	if b < len(before) {
		t.text = before[b] + "\n\n" + t.text
	}
	if a < len(after) {
		t.text += "\n" + after[a]
	}
}
