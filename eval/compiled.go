package eval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/section"
)

// compiled is ctxfs itself.
type compiled struct {
	s        *Session
	counter  *tokens.Counter
	budget   int
	recipe   *recipe.Recipe // nil: the default one
	without  section.Set
	compiler pack.Compiler
	last     *pack.Build
	before   *sent // last, as the next pack is compared with it
}

func (m *compiled) Pack(n int) (Pack, error) {
	history := m.s.Messages.Prefix(n)
	in := pack.Input{
		Session: "eval", Agent: "eval", Recipe: m.recipe, Budget: m.budget, Encoding: m.counter.Encoding(),
		Messages: history, Head: history.Head(), Without: m.without,
	}
	start := time.Now()
	b, err := m.compiler.Compile(in)
	if err != nil {
		return Pack{}, fmt.Errorf("%s, the first %d records at %d tokens: %w", m.s.Name, n, m.budget, err)
	}
	p := Pack{Text: string(b.Markdown), Took: time.Since(start)}
	p.Tokens = m.counter.CountParts(p.Text)
	m.check(&p, b, n)
	m.last = b
	return p, nil
}

// packFile is what is read of pack.json.
type packFile struct {
	Compactions int       `json:"compactions"`
	Items       []account `json:"items"`
	Omitted     []account `json:"omitted"`
}

type account struct {
	Kind   string `json:"kind"`
	Log    string `json:"log"`
	Range  string `json:"range"`
	Lines  string `json:"range_v1"` // a tail in numbers
	Tokens int    `json:"tokens"`
}

// extras are kinds of items that speak of records which are accounted for elsewhere.
var extras = []string{"key_lines", "user_words", "state", "summary", "facts", "decisions", "refs", "recall", "todo", "goal"}

// zones are those of them that are a part of the journal.
var zones = []string{"key_lines", "user_words", "state", "summary", "facts", "decisions", "refs"}

// check holds a pack to what can be seen from outside.
func (m *compiled) check(p *Pack, b *pack.Build, n int) {
	wrong := func(format string, args ...any) { p.Wrong = append(p.Wrong, fmt.Sprintf(format, args...)) }
	if b.Tokens != p.Tokens {
		wrong("%d tokens are stated, it has %d", b.Tokens, p.Tokens)
	}
	var f packFile
	if err := json.Unmarshal(b.JSON(), &f); err != nil {
		wrong("pack.json: %v", err)
		return
	}
	p.Compactions = f.Compactions
	now := &sent{text: p.Text, epoch: b.Epoch, stable: b.Prefix, major: b.Major, past: b.Past}
	if why := now.breaks(m.before); why != "" {
		wrong("%s", why)
	}
	m.before = now
	times := make([]int, n+1)
	newest := 0
	for i, a := range slices.Concat(f.Items, f.Omitted) {
		if a.Log != "messages" || slices.Contains(extras, a.Kind) {
			if a.Log == "messages" && slices.Contains(zones, a.Kind) {
				p.Journal += a.Tokens
			}
			continue
		}
		span, err := ctxabi.ParseSpan(cmp.Or(a.Lines, a.Range))
		if err != nil || span.From < 1 || span.To > n {
			wrong("a range %q of %d records", a.Range, n)
			continue
		}
		for line := span.From; line <= span.To; line++ {
			times[line]++
		}
		if i < len(f.Items) {
			p.Journal += a.Tokens
		}
		if span.To == n && i < len(f.Items) {
			newest = n
		}
	}
	for line := 1; line <= n; line++ {
		if times[line] != 1 {
			wrong("record %d is accounted for %d times", line, times[line])
		}
	}
	if newest == n && b.Prefix <= len(p.Text) {
		heading := fmt.Sprintf("\n## %d ", n)
		if at := strings.LastIndex(p.Text[:b.Prefix], heading); at >= 0 {
			p.Newest = m.counter.CountCached(p.Text[at+1 : b.Prefix])
		}
	}
}

// FromRecords is r without what is not made from a session's records: other sources would take budget and need files.
func FromRecords(r *recipe.Recipe) *recipe.Recipe {
	out := *r
	out.Sources = nil
	for _, s := range r.Sources {
		switch s.Type {
		case recipe.TypeFile, recipe.TypeComputed, recipe.TypePipeline:
		default:
			out.Sources = append(out.Sources, s)
		}
	}
	return &out
}
