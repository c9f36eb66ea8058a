package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/views/inspect"
	"github.com/ctxfs/ctxfs/views/overview"
)

// Budgets that the slider offers, in tokens.
const (
	leastBudget = 2000
	mostBudget  = 200000
)

// formats are the tabs: pack.md, and the bodies of requests.
var formats = []struct{ ID, Name string }{
	{"md", "Markdown"}, {string(native.Anthropic), "Anthropic"}, {string(native.OpenAI), "OpenAI"}, {string(native.Responses), "Responses"},
	{string(native.Gemini), "Gemini"}, {string(native.GenAI), "Google SDK"},
}

// packPart is what a pack is made of, as its page shows it.
type packPart struct {
	Ref, Format      string
	Formats          []struct{ ID, Name string }
	Asked            int // of the slider; 0: the session's own
	Budget, Tokens   int
	Messages         int
	Preview, Budgets bool
	Least, Most      int
	Epoch, Reason    string
	Compactions      int
	Sections         []section
	Tiles            []tile
	Text             []piece
	Body             overview.Head // of a native format
	Cut              bool
	LeftOut          []inspect.Omitted
	Unread           bool              // no program has read a pack of the session
	Used             *inspect.Recorded // of such a session: the tokens that its provider counted
}

// section is one of the four parts of a pack.
type section struct {
	Name, Class string
	Tokens      int
	Share       float64
}

// piece is a part of pack.md with an anchor.
type piece struct {
	ID, Title, Class, Text string
	Tokens                 int
	Record                 string
}

// sectionNames are the phases of items, in words.
var sectionNames = []struct{ phase, class, name string }{
	{"stable", "stable", "Instructions"}, {"session", "session", "Session"}, {"journal", "journal", "Conversation"}, {"dynamic", "footer", "Footer"},
}

// pack shows the pack at the session's budget or at the requested one. It returns an error if it
// cannot build the pack.
func (s *Server) pack(ctx context.Context, dir string, r *http.Request) (string, any, error) {
	q := r.URL.Query()
	v := packPart{Ref: r.PathValue("ref"), Format: cmp.Or(q.Get("format"), "md"), Formats: formats, Least: leastBudget, Most: mostBudget}
	if !slices.ContainsFunc(formats, func(f struct{ ID, Name string }) bool { return f.ID == v.Format }) {
		return "", nil, ctxabi.E("read", "", ctxabi.ErrMalformed, "%.40q is not a format", v.Format)
	}
	if text := q.Get("budget"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < leastBudget || n > mostBudget {
			return "", nil, ctxabi.E("read", "", ctxabi.ErrMalformed, "a budget is %d to %d tokens, not %.40q", leastBudget, mostBudget, text)
		}
		v.Asked, v.Preview = n, true
	}
	err := s.looks.previewed(ctx, dir, v.Asked, func(ctx context.Context, l *Look) error {
		p, err := l.At(ctx, l.Len())
		if err != nil {
			return err
		}
		v.Budgets = l.Budgets
		v.fill(p)
		if v.Unread = !overview.Read(dir); v.Unread {
			if v.Used, err = l.Recorded(); err != nil {
				return err
			}
		}
		if v.Format == "md" {
			return nil
		}
		body, err := l.Native(ctx, l.Len(), native.Format(v.Format))
		if err != nil {
			return err
		}
		v.Text = nil
		v.Body = cutJSON(body)
		return nil
	})
	return "pack-part", v, err
}

// cutJSON returns JSON with its lines indented, as much of it as a page shows.
func cutJSON(body []byte) overview.Head {
	c := overview.Head{Size: int64(len(body))}
	var b bytes.Buffer
	if json.Indent(&b, body, "", "  ") == nil {
		body = b.Bytes()
	}
	if len(body) > maxAnswer {
		c.Cut, body = true, overview.Whole(body[:maxAnswer])
	}
	c.Text = overview.Visible(string(bytes.ToValidUTF8(body, []byte("\uFFFD"))))
	return c
}

// fill takes a pack apart.
func (v *packPart) fill(p *inspect.Pack) {
	v.Budget, v.Tokens, v.Messages, v.Compactions, v.Reason = p.BudgetTokens, p.Tokens, p.Messages, p.Compactions, p.EpochReason
	if v.Reason == "no compaction yet" {
		v.Reason = ""
	}
	phases := map[string]string{}
	for _, it := range p.Items {
		if it.ID != "" {
			phases[it.ID] = it.Phase
		}
	}
	sums := map[string]int{}
	tiles := map[string]*tile{}
	var order []string
	room := maxAnswer
	for i, x := range p.Pieces() {
		phase := cmp.Or(phases[x.Block], "journal")
		class := classOf(phase)
		n := p.Count(x.Text)
		sums[phase] += n
		id := fmt.Sprintf("p%d", i)
		y := piece{ID: id, Title: x.Block, Class: class, Tokens: n}
		name, _ := inspect.SplitBlockID(x.Block)
		if x.Record != (inspect.Address{}) {
			place := p.PlaceOf(x.Record)
			y.Record, y.Title = x.Record.String(), x.Record.String()+", "+placeWords(place)
			name = speaker(x.Text) + ", " + zoneWords[place.Zone]
			class = "zone-" + cmp.Or(string(place.Zone), "none")
			y.Class = class
		}
		key := phase + "\n" + name
		if tiles[key] == nil {
			tiles[key] = &tile{Name: name, Class: class, Section: phase, To: id}
			order = append(order, key)
		}
		tiles[key].Tokens += n
		tiles[key].Count++
		if room -= len(x.Text); room < 0 {
			v.Cut = true
			continue
		}
		y.Text = overview.Visible(x.Text)
		v.Text = append(v.Text, y)
	}
	all := 0
	for _, n := range sums {
		all += n
	}
	for _, x := range sectionNames {
		if sums[x.phase] > 0 {
			v.Sections = append(v.Sections, section{x.name, x.class, sums[x.phase], float64(sums[x.phase]) / float64(max(1, all))})
		}
	}
	var list []tile
	for _, key := range order {
		list = append(list, *tiles[key])
	}
	v.Tiles = treemap(list, 1000, 620)
	for _, o := range p.Omitted {
		if o.ID != "" || o.Range != "" {
			v.LeftOut = append(v.LeftOut, o)
		}
	}
	v.LeftOut = v.LeftOut[:min(len(v.LeftOut), 12)]
}

// speaker returns who speaks in a record of a pack: "tool shell" of "## 3 tool shell [call 2.1]".
func speaker(text string) string {
	head, _, _ := strings.Cut(text, "\n")
	_, who, _ := strings.Cut(strings.TrimPrefix(head, "## "), " ")
	who, _, _ = strings.Cut(who, " [")
	who, _, _ = strings.Cut(who, " (")
	return overview.OneLine(who, 40)
}

// classOf returns how a phase is called in styles.
func classOf(phase string) string {
	for _, x := range sectionNames {
		if x.phase == phase {
			return x.class
		}
	}
	return "journal"
}
