package adapter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// A session of one format can be had in every other, which then is of that
// format, can be imported, and says the same.
func TestEveryFormatAsEveryOther(t *testing.T) {
	for _, from := range samples(t) {
		if from.hostile {
			continue
		}
		f, _ := formats.Lookup(from.format)
		data, err := os.ReadFile(from.file)
		if err != nil {
			t.Fatal(err)
		}
		var s adaptertest.Session
		s.Import(t, f, filepath.Base(from.file), data)
		for _, to := range others(from) {
			t.Run(from.name()+" as "+to.Name, func(t *testing.T) {
				out, _ := s.Export(t, to)
				if len(said(s.Records)) == 0 {
					return
				}
				got, ok := formats.Detect("transcript", out[:min(len(out), 64<<10)])
				if !ok || got != to && (to.Name != "anthropic" || got.Name != "openai") { // see nothingButText
					t.Errorf("what was exported is detected as %v\n%.2000s", got, out)
				}
				var there adaptertest.Session
				if _, lost := there.Import(t, to, "transcript", out); len(lost) > 0 {
					t.Errorf("import of what was exported loses %v\n%.2000s", lost, out)
				}
				saysAll(t, said(there.Records), said(s.Records))
			})
		}
	}
}

// others are the formats that a sample can be written in beside its own.
func others(from sample) (list []*adapter.Format) {
	for _, to := range formats.Formats() {
		if to.Export != nil && to.Name != from.format {
			list = append(list, to)
		}
	}
	return list
}

// The verbs do the same in a mount: the first sample of each format as every
// other, and each further one as another of them.
func TestFormatsAsOthersByTheVerbs(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	nth := map[string]int{}
	for _, from := range some(t, 2) {
		if from.hostile {
			continue
		}
		p := at(m, "from", from.session())
		if r := m.CLI(t, "import", from.file, p.path); r.Code != 0 {
			continue // TestEverySample looks at that
		}
		targets := others(from)
		if n := nth[from.format]; n > 0 || suite.Pick(t, true, false) { // all pairs without the verbs: TestEveryFormatAsEveryOther
			targets = targets[(n+len(nth))%len(targets):][:1]
		}
		nth[from.format]++
		for _, to := range targets {
			t.Run(from.name()+" as "+to.Name, func(t *testing.T) {
				out, _ := p.export(t, to.Name)
				file := filepath.Join(t.TempDir(), "transcript")
				if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
					t.Fatal(err)
				}
				messages := p.lines(t, "messages.jsonl")
				q := at(m, "to", from.session()+"-"+to.Name)
				r := m.CLI(t, "import", file, q.path)
				if messages == 0 && r.Code == 1 {
					return
				}
				if r.OK(); !strings.Contains(r.Stderr, ": "+to.Name+" (detected") && !nothingButText(to.Name, r.Stderr) || strings.Contains(r.Stderr, "loss") {
					t.Errorf("import of what was exported says: %s\n%.2000s", r.Stderr, out)
				}
				saysAll(t, texts(t, q), texts(t, p))
			})
		}
	}
}

// saysAll: there are all the texts, in order.
func saysAll(t *testing.T, there, texts []string) {
	t.Helper()
	rest := strings.Join(there, "|")
	for _, text := range texts {
		before, after, ok := strings.Cut(rest, text)
		if !ok {
			t.Errorf("it says %q\nbehind %q\nand not %q", rest, before, text)
			break
		}
		rest = after
	}
}

// nothingButText: a list of messages that are text and no more is a request to
// OpenAI as it is one to Anthropic, and is read as either.
func nothingButText(format, said string) bool {
	return format == "anthropic" && strings.Contains(said, ": openai (detected")
}

// texts is what a session's users and assistants say, in order and without
// blanks. What they do is another matter.
func texts(t *testing.T, p place) []string {
	var records []adapter.Record
	for line := range strings.Lines(p.read(t, "messages.jsonl")) {
		records = append(records, adapter.Record{Line: []byte(line)})
	}
	return said(records)
}

// said is texts of records; those of children do not count.
func said(records []adapter.Record) (all []string) {
	for _, r := range records {
		m, parts := ctxabi.DecodeParts(r.Line)
		if r.Event || r.Chain != "" || m.Role != ctxabi.User && m.Role != ctxabi.Assistant {
			continue
		}
		for _, part := range parts {
			if text := strings.Join(strings.Fields(part.Text), ""); part.Kind == ctxabi.PartText && text != "" {
				all = append(all, text)
			}
		}
	}
	return all
}
