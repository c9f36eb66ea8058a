package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/aider"
	"github.com/ctxfs/ctxfs/agents/adapter/anthropic"
	"github.com/ctxfs/ctxfs/agents/adapter/atif"
	"github.com/ctxfs/ctxfs/agents/adapter/claude"
	"github.com/ctxfs/ctxfs/agents/adapter/codex"
	"github.com/ctxfs/ctxfs/agents/adapter/converse"
	"github.com/ctxfs/ctxfs/agents/adapter/gemini"
	"github.com/ctxfs/ctxfs/agents/adapter/langchain"
	"github.com/ctxfs/ctxfs/agents/adapter/native"
	"github.com/ctxfs/ctxfs/agents/adapter/openai"
	"github.com/ctxfs/ctxfs/agents/adapter/opencode"
	"github.com/ctxfs/ctxfs/agents/adapter/openhands"
	"github.com/ctxfs/ctxfs/agents/adapter/pi"
	"github.com/ctxfs/ctxfs/agents/adapter/responses"
	"github.com/ctxfs/ctxfs/agents/adapter/sweagent"
	"github.com/ctxfs/ctxfs/agents/adapter/uimessages"
)

// formats has every format there is; a file of its own has each of them. One that keeps records as they are keeps all of their keys.
var formats = []*adapter.Format{
	claude.Format,
	native.Format,
	codex.Format,
	responses.Format,
	openai.Format,
	anthropic.Format,
	uimessages.Format,
	converse.Format,
	openhands.Format,
	atif.Format,
	sweagent.Format,
	sweagent.Mini,
	gemini.Format,
	gemini.Contents,
	opencode.Format,
	pi.Format,
	langchain.Format,
	aider.Format,
}

func init() {
	for _, f := range formats {
		if !f.Verbatim && f != aider.Format { // Markdown has no keys
			f.Import = adapter.ReportsTwice(f.Import)
		}
		if !f.Verbatim {
			f.Import = adapter.DeliversBlocks(f.Name, adapter.ReportsUnread(f, f.Import))
		}
	}
}

// Help returns the list of all formats for a person, one a line, without a newline at its end.
func Help() string {
	var b strings.Builder
	b.WriteString("FORMAT is one of\n")
	for _, f := range Formats() {
		fmt.Fprintf(&b, "  %-15s %s\n", f.Name, f.Title)
	}
	return strings.TrimSpace(b.String())
}

// Formats are all formats, in the order in which they are listed.
func Formats() []*adapter.Format { return formats }

// Lookup returns the format of that name.
func Lookup(name string) (*adapter.Format, bool) {
	i := slices.IndexFunc(formats, func(f *adapter.Format) bool { return f.Name == name })
	if i < 0 {
		return nil, false
	}
	return formats[i], true
}

// Detect returns the format that is the surest of a transcript; ok is false when
// none knows it. head is what Sniff gets, in any encoding that [Lines] read.
func Detect(name string, head []byte) (f *adapter.Format, ok bool) {
	head = adapter.Decode(head)
	best := 0
	for _, c := range formats {
		if sure := c.Sniff(name, head); sure > best {
			f, best = c, sure
		}
	}
	if best > 0 && programOf(head, true) != nil {
		return nil, false
	}
	return f, best > 0
}
