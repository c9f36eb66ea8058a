package adapter

import (
	"fmt"
	"strings"
)

// formats has every format there is; a file of its own has each of them. One that keeps records as they are keeps all of their keys.
var formats = []*Format{
	claudeCode,
	native,
	codex,
	responses,
	openAI,
	anthropic,
	openHands,
	atif,
	sweAgent,
	miniAgent,
}

func init() {
	for _, f := range formats {
		if !f.Verbatim {
			f.Import = reportsTwice(f.Import)
		}
	}
}

// Help returns the list of all formats for a person, one a line, without a newline at its end.
func Help() string {
	var b strings.Builder
	b.WriteString("FORMAT is one of\n")
	for _, f := range Formats() {
		fmt.Fprintf(&b, "  %-14s %s\n", f.Name, f.Title)
	}
	return strings.TrimSpace(b.String())
}
