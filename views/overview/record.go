package overview

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
	"github.com/ctxfs/ctxfs/views/inspect"
)

// Glimpse is a record as one bar of a ribbon and its first words.
type Glimpse struct {
	N      int    `json:"n"`
	Role   string `json:"role"`
	Tokens int    `json:"tokens"` // about
	First  string `json:"first"`
}

// Limits of how much of a record is read.
const (
	maxGlimpse = 64 << 10 // bytes, to find who speaks
	maxFirst   = 120      // letters of the first words
)

// GlimpseOf reads the beginning of a record of the session in dir. Where it cannot be read, First has the reason.
func GlimpseOf(dir string, a inspect.Address) Glimpse {
	g := Glimpse{N: a.N, Role: "unknown"}
	c, err := ReadHead(filepath.Join(dir, a.Path()), maxGlimpse)
	if err != nil {
		g.First = Reason(err)
		return g
	}
	if a.Event {
		g.Role = "event"
		var e struct{ Type, Name string }
		if json.Unmarshal([]byte(c.Text), &e) == nil {
			g.First = OneLine(e.Type+" "+e.Name, maxFirst)
		}
		g.Tokens = ctxabi.Weight(c.Text)
	} else if c.Cut {
		if g.Role = roleOf(c.Text); g.Role == "unknown" {
			g.Role = lastRole(filepath.Join(dir, a.Path()), c.Size)
		}
		g.Tokens = int(float64(ctxabi.Weight(c.Text)) * float64(c.Size) / float64(len(c.Text)))
		g.First = OneLine(c.Text, maxFirst)
	} else {
		m := ctxabi.DecodeMessage([]byte(c.Text))
		g.Role = m.Role.String()
		text := m.Text
		for _, call := range m.Calls {
			text += " → " + call.Name + " " + string(call.Arguments)
		}
		for _, r := range m.Results {
			text += " " + r.Text
		}
		if m.Name != "" {
			text = m.Name + ": " + text
		}
		g.Tokens, g.First = ctxabi.Weight(text), OneLine(text, maxFirst)
	}
	if g.First == "" {
		g.First = "nothing but a heading"
	}
	return g
}

// roleOf finds the role of a record of which only the beginning was read.
func roleOf(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	for depth, key := 0, ""; ; {
		t, err := d.Token()
		if err != nil {
			return "unknown"
		}
		switch t := t.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				depth++
			} else {
				depth--
			}
			key = ""
		case string:
			if depth == 1 && key == "role" {
				return t
			}
			if depth == 1 && key == "" {
				key = t
				continue
			}
			key = ""
		default:
			key = ""
		}
	}
}

// roleField matches the role of a record. Inside of a text its quotes would be escaped.
var roleField = lazy.Regexp(`(?:^|[^\\])"role"\s*:\s*"(user|assistant|tool|system|developer)"`)

// lastRole finds the role of a record at its end, where some programs write it.
func lastRole(name string, size int64) string {
	f, err := os.Open(name)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	const most = 4 << 10
	tail, err := io.ReadAll(io.NewSectionReader(f, max(0, size-most), most))
	found := roleField().FindAllSubmatch(tail, -1)
	if err != nil || found == nil {
		return "unknown"
	}
	return string(found[len(found)-1][1])
}
