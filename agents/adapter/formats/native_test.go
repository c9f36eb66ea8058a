package formats_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
)

func TestNative(t *testing.T) { adaptertest.RunFormat(t, "native", "testdata/native") }

func formatOf(t testing.TB, name string) *adapter.Format {
	f, ok := formats.Lookup(name)
	if !ok {
		t.Fatalf("there is no format %s", name)
	}
	return f
}

// What leaves a session as native comes back byte by byte.
func TestNativeIsTheRecordsThemselves(t *testing.T) {
	for _, file := range []string{"with-children", "exact-bytes", "from-elsewhere", "only-a-head"} {
		data, err := os.ReadFile("testdata/native/" + file + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		var s adaptertest.Session
		s.Import(t, formatOf(t, "native"), "", data)
		if got, _ := s.Export(t, formatOf(t, "native")); !bytes.Equal(got, data) {
			t.Errorf("%s: exported as\n%s", file, got)
		}
	}
}

func TestNativeWithoutSections(t *testing.T) {
	data, err := os.ReadFile("testdata/native/hostile-no-sections.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var s adaptertest.Session
	_, losses := s.Import(t, formatOf(t, "native"), "both.jsonl", data)
	var got []string
	for _, r := range s.Records {
		if _, kept := r.KeptLine(); kept {
			got = append(got, "kept")
		} else {
			got = append(got, string(r.Line))
		}
	}
	want := []string{`{"role":"user","content":"a"}`, `{"type":"note","text":"both logs in one"}`,
		"kept", "kept", "kept", "kept", `{"role":"user","content":"a"}`, "kept"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("records:\n%s", strings.Join(got, "\n"))
	}
	if len(losses) != 7 {
		t.Errorf("losses: %v", losses)
	}
}

func TestNativeIsDetected(t *testing.T) {
	for _, c := range []struct {
		name, head string
		sure       int
	}{
		{"", "\xef\xbb\xbf{\"ctxfs\":\"events\"}\n", 100},
		{"x/messages.jsonl", `{"role":"user","content":"hi"}`, 60},
		{"x/events.jsonl", `{"type":"note"}`, 60},
		{"x.jsonl", `{"role":"user","content":"hi"}` + "\n", 10},
		{"x.jsonl", `{"role":"user","content":"hi","import":{"format":"codex","ids":["1"],"at":[0]}}`, 95},
		{"x.jsonl", `{"type":"note"}`, 0},
		{"messages.jsonl", `{"role":`, 0},
		{"messages.jsonl", "", 0},
	} {
		if got := formatOf(t, "native").Sniff(c.name, []byte(c.head)); got != c.sure {
			t.Errorf("%s %s: %d, want %d", c.name, c.head, got, c.sure)
		}
	}
}

func FuzzImportNative(f *testing.F) {
	f.Add([]byte("{\"ctxfs\":\"events\"}\n{\"type\":\"x\"}\n"))
	f.Add([]byte("{\"role\":\"user\",\"content\":\"x\"}\n{\"ctxfs\":\"messages\",\"child\":\"c\"}\n{\"role\":\"user\",\"content\":\"x\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s, back adaptertest.Session
		s.Import(t, formatOf(t, "native"), "", data)
		if again, _ := s.Import(t, formatOf(t, "native"), "", data); len(again) > 0 {
			t.Fatalf("a second import adds %s", again[0].Line)
		}
		out, _ := s.Export(t, formatOf(t, "native"))
		_, losses := back.Import(t, formatOf(t, "native"), "", out)
		if len(losses) > 0 || len(back.Records) != len(s.Records) {
			t.Fatalf("%d of %d records come back: %v\n%s", len(back.Records), len(s.Records), losses, out)
		}
	})
}

// Two transcripts in one session stand one behind the other, and each goes on
// where it stood.
func TestTranscriptsOfOneSessionDoNotMix(t *testing.T) {
	record := func(id string, at int) adapter.Record {
		return adapter.Record{Line: adapter.Raw(adapter.Object{{"role", adapter.Raw("user")}, {"content", adapter.Raw(id)},
			{adapter.StampKey, adapter.Raw(adapter.Stamp{Format: "f", IDs: []string{id}, At: []int{at}})}})}
	}
	var known adapter.Known
	var log []adapter.Record
	read := func(ids ...string) {
		known.Begin()
		for at, id := range ids {
			if !known.Seen("", id) {
				r := known.Place(record(id, at))
				known.Add(r)
				log = append(log, r)
			}
		}
	}
	read("a0", "a1")
	read("b0", "b1", "b2")
	read("a0", "a1", "a2")
	read("b0", "b1", "b2", "b3")
	read("a0", "x1")
	var got []string
	for _, r := range adapter.InOrder(log) {
		o, _ := adapter.ParseObject(r.Line)
		got = append(got, o.Text("content"))
	}
	if strings.Join(got, " ") != "a0 a1 a2 b0 b1 b2 b3 x1" {
		t.Errorf("order: %v", got)
	}
}
