package formats

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// work returns how many keys are passed while do runs, and how many bytes are allocated.
func work(do func()) (keys, bytes int) {
	adapter.Passed = func(n int) { keys += n }
	defer func() { adapter.Passed = nil }()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return keys, int(after.TotalAlloc - before.TotalAlloc)
}

// growsLikeItsInput fails the test when eight times the input takes more than sixteen times the work.
func growsLikeItsInput(t *testing.T, do func(n int)) {
	t.Helper()
	const small, times = 2000, 8
	do(small) // what is made once
	keys, allocated := work(func() { do(small) })
	moreKeys, more := work(func() { do(times * small) })
	if moreKeys > 2*times*(keys+small) {
		t.Errorf("%d keys are passed for %d, and %d for %d", keys, small, moreKeys, times*small)
	}
	if more > 2*times*allocated {
		t.Errorf("%d bytes are allocated for %d, and %d for %d", allocated, small, more, times*small)
	}
}

type kept struct{ records []adapter.Record }

func (k *kept) Record(r adapter.Record) error { k.records = append(k.records, r); return nil }
func (k *kept) Loss(adapter.Loss)             {}

func imported(t *testing.T, f *adapter.Format, data []byte) []adapter.Record {
	t.Helper()
	var k kept
	in := &adapter.Input{R: bytes.NewReader(data), Name: "x.jsonl", Seen: func(string, string) bool { return false }}
	f.Import(in, &k) // some formats refuse some of these
	return k.records
}

// messageWith is a message of each format with so many fields that no format knows.
func messageWith(format string, fields func(b *bytes.Buffer)) []byte {
	var b bytes.Buffer
	switch format {
	case "claude-code":
		b.WriteString(`{"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":"hi"}`)
	case "codex":
		b.WriteString(`{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`)
	case "atif":
		b.WriteString(`{"schema_version":"ATIF-v1.4","session_id":"s","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"user","message":"hi"}]`)
	case "openhands":
		b.WriteString(`{"kind":"MessageEvent","id":"e1","timestamp":"2026-01-01T00:00:00","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"hi"}]}`)
	case "gemini":
		b.WriteString(`{"id":"m1","timestamp":"2026-01-01T00:00:00.000Z","type":"gemini","content":"hi"`)
	case "opencode":
		b.WriteString(`{"info":{"id":"s","slug":"s"},"messages":[{"info":{"id":"m1","role":"user"},"parts":[{"id":"p1","type":"text","text":"hi"}]}]`)
	case "pi":
		b.WriteString(`{"type":"message","id":"m1","parentId":null,"message":{"role":"user","content":"hi"}`)
	default:
		b.WriteString(`{"role":"user","content":"hi"`)
	}
	fields(&b)
	b.WriteString("}\n")
	return b.Bytes()
}

func TestAMessageOfManyKeysIsImportedInLinearTime(t *testing.T) {
	for _, f := range Formats() {
		for name, key := range map[string]func(i, n int) int{
			"different": func(i, _ int) int { return i },
			"doubled":   func(i, n int) int { return i % (n / 2) },
		} {
			t.Run(f.Name+"/"+name, func(t *testing.T) {
				growsLikeItsInput(t, func(n int) {
					imported(t, f, messageWith(f.Name, func(b *bytes.Buffer) {
						for i := range n {
							fmt.Fprintf(b, `,"key%d":"a value that is long enough to have a place %d"`, key(i, n), i)
						}
					}))
				})
			})
		}
	}
}

func TestAMessageOfManyKeysIsExportedInLinearTime(t *testing.T) {
	for _, f := range Formats() {
		if f.Export == nil {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			growsLikeItsInput(t, func(n int) {
				records := imported(t, f, messageWith(f.Name, func(b *bytes.Buffer) {
					for i := range n {
						fmt.Fprintf(b, `,"key%d":%d`, i, i)
					}
				}))
				var logs [2][]adapter.Record
				for _, r := range records {
					log := 0
					if r.Event {
						log = 1
					}
					logs[log] = append(logs[log], r)
				}
				var out bytes.Buffer
				if err := f.Export(&adapter.Source{Name: "s", Records: f.Arrange(logs[:]...), Loss: func(adapter.Loss) {}}, &out); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// What is looked at of a transcript to tell its format must not be a path as long as the transcript for each of its brackets.
func TestADeepTranscriptIsRecognisedInLinearTime(t *testing.T) {
	for name, open := range map[string]string{"lists": "[", "objects": `{"a":`} {
		t.Run(name, func(t *testing.T) {
			growsLikeItsInput(t, func(n int) { adapter.ShapeOf([]byte(strings.Repeat(open, n))) })
		})
	}
}
