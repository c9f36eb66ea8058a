package formats_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// largeClaude is a transcript of at least that many bytes: prompts, and answers with two calls each and long results.
func largeClaude(size int) []byte {
	var b bytes.Buffer
	id := 0
	line := func(typ, message, more string) {
		parent := "null"
		if id > 0 {
			parent = fmt.Sprintf(`"%08d-0000-4000-8000-000000000000"`, id)
		}
		id++
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/home/mia/ledger","sessionId":"5f1c7a02-8d3e-4b6a-9c11-7f20e4d1ab01","version":"2.1.81","gitBranch":"main","type":%q,"message":%s%s,"uuid":"%08d-0000-4000-8000-000000000000","timestamp":"2026-02-24T10:10:00.000Z"}`+"\n",
			parent, typ, message, more, id)
	}
	for n := 0; b.Len() < size; n++ {
		line("user", fmt.Sprintf(`{"role":"user","content":"Part %d: why is the sum \"off\"?"}`, n), "")
		part := func(part string) {
			line("assistant", fmt.Sprintf(`{"model":"claude-opus-4-6","id":"msg_%d","type":"message","role":"assistant","content":[%s],"stop_reason":"tool_use","usage":{"input_tokens":4,"cache_read_input_tokens":15221,"cache_creation_input_tokens":90,"output_tokens":212}}`, n, part), "")
		}
		part(`{"type":"thinking","thinking":"I look.","signature":"` + strings.Repeat("Zb/2QkWv", 60) + `"}`)
		for call := range 2 {
			part(fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d_%d","name":"Read","input":{"file_path":"/home/mia/ledger/%d.py"}}`, n, call, n))
		}
		for call := range 2 {
			text := strings.Repeat(fmt.Sprintf(`     %d\tdef total(lines):\n\t\treturn \"x\"\n`, n), 60)
			line("user", fmt.Sprintf(`{"role":"user","content":[{"tool_use_id":"toolu_%d_%d","type":"tool_result","content":"%s"}]}`, n, call, text),
				fmt.Sprintf(`,"toolUseResult":{"type":"text","file":{"filePath":"/home/mia/ledger/%d.py","content":"%s"}}`, n, text))
		}
	}
	return b.Bytes()
}

type claudeDiscard struct{ records, losses int }

func (d *claudeDiscard) Record(adapter.Record) error { d.records++; return nil }
func (d *claudeDiscard) Loss(adapter.Loss)           { d.losses++ }

func BenchmarkImportClaude40MB(b *testing.B) {
	f, _ := formats.Lookup("claude-code")
	data := largeClaude(40 << 20)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		out := &claudeDiscard{}
		if err := f.Import(&adapter.Input{R: bytes.NewReader(data), Seen: func(string, string) bool { return false }}, out); err != nil || out.losses > 0 {
			b.Fatal(err, out)
		}
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.Sys-before.Sys)/(1<<20), "MiB-from-system")
}

func TestClaudeTakesAMessageOf571000Tokens(t *testing.T) {
	f, _ := formats.Lookup("claude-code")
	text := strings.Repeat("word ", 571_000)
	data := `{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"` + text + `"},"uuid":"u1"}
{"parentUuid":"u1","sessionId":"s","type":"assistant","message":{"role":"assistant","id":"m1","content":[{"type":"text","text":"long"}]},"uuid":"u2"}
`
	var s adaptertest.Session
	records, losses := s.Import(t, f, "", []byte(data))
	if len(records) != 2 || len(losses) > 0 {
		t.Fatalf("%d records, %v", len(records), losses)
	}
	if m := ctxabi.DecodeMessage(records[0].Line); m.Text != text {
		t.Errorf("%d bytes of text", len(m.Text))
	}
	out, _ := s.Export(t, f)
	if diff := adaptertest.CanonicalEqual([]byte(data), out); diff != "" {
		t.Error(diff)
	}
	if sure := f.Sniff("", []byte(data)[:64<<10]); sure < 90 {
		t.Errorf("a transcript that begins with it is detected with %d", sure)
	}
}

// An answer may be larger than a record when its parts are put together, and a
// part alone with what its record needs beside it.
func TestClaudeAnswersThatAreTooLargeForARecord(t *testing.T) {
	if testing.Short() {
		t.Skip("55 MB")
	}
	f, _ := formats.Lookup("claude-code")
	part := func(id, parent string, size int) string {
		return fmt.Sprintf(`{"parentUuid":%q,"type":"assistant","message":{"role":"assistant","id":"m1","content":[{"type":"text","text":"%s"}]},"uuid":%q}`+"\n", parent, strings.Repeat("x", size), id)
	}
	data := `{"parentUuid":null,"type":"user","message":{"role":"user","content":"go"},"uuid":"u0"}` + "\n" +
		part("u1", "u0", 7<<20) + part("u2", "u1", 7<<20) + part("u3", "u2", 7<<20) + part("u4", "u3", 17<<20) + part("u5", "u3", 10) + part("u6", "u5", 16<<20-130)
	var s adaptertest.Session
	records, losses := s.Import(t, f, "", []byte(data))
	var got []string
	for _, r := range records {
		stamp, _ := r.Stamp()
		got = append(got, fmt.Sprint(r.Event, stamp.At))
	}
	want := "false [0] false [1 2] false [3 5] true [4] true [6]"
	if strings.Join(got, " ") != want || len(losses) != 2 {
		t.Errorf("got  %s\nwant %s\n%v", got, want, losses)
	}
	if again, _ := s.Import(t, f, "", []byte(data)); len(again) > 0 {
		t.Errorf("a second import adds %d records", len(again))
	}
	out, lost := s.Export(t, f)
	if n := bytes.Count(out, []byte("\n")); n != 5 || len(lost) != 1 {
		t.Errorf("%d lines, %v", n, lost)
	}
}
