package formats_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"

	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/ctxabi"
)

func TestOpenHands(t *testing.T) {
	adaptertest.RunFormat(t, "openhands", "testdata/openhands")
}

func TestOpenHandsRecords(t *testing.T) {
	goldenRecords(t, "openhands", "shop.jsonl")
	goldenRecords(t, "openhands", "v0.json")
}

// A conversation on disk is a directory of files of one event each.
func TestOpenHandsDirectory(t *testing.T) {
	f, _ := formats.Lookup("openhands")
	data := sample(t, "openhands", "shop.jsonl")
	var lines, dir adaptertest.Session
	lines.Import(t, f, "shop.jsonl", data)
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var e struct{ ID string }
		json.Unmarshal(line, &e)
		var pretty bytes.Buffer
		json.Indent(&pretty, line, "", "  ")
		name := fmt.Sprintf("event-%05d-%s.json", i, e.ID)
		if got, ok := formats.Detect(name, pretty.Bytes()); !ok || got != f {
			t.Errorf("%s is not detected", name)
		}
		dir.Import(t, f, "events/"+name, pretty.Bytes())
	}
	if added, _ := dir.Import(t, f, "shop.jsonl", data); len(added) > 0 {
		t.Errorf("the same conversation as lines adds %s", added[0].Line)
	}
	want, _ := lines.Export(t, f)
	got, _ := dir.Export(t, f)
	if diff := adaptertest.CanonicalEqual(want, got); diff != "" {
		t.Error(diff)
	}
}

// Calls of one answer are one message, and what it took is known once.
func TestOpenHandsAnswers(t *testing.T) {
	f, _ := formats.Lookup("openhands")
	var s adaptertest.Session
	s.Import(t, f, "v0.json", sample(t, "openhands", "v0.json"))
	var calls, used []string
	for _, r := range s.Records {
		if u, ok := ctxabi.DecodeUsage(r.Line); ok && r.Event {
			used = append(used, fmt.Sprintf("%d+%d, %d cached", u.Input, u.Output, u.CacheRead))
		}
		if r.Event {
			continue
		}
		m := ctxabi.DecodeMessage(r.Line)
		var ids []string
		for _, c := range m.Calls {
			ids = append(ids, c.ID)
		}
		if len(ids) > 0 {
			calls = append(calls, strings.Join(ids, " "))
		}
	}
	if got := strings.Join(calls, ", "); got != "toolu_1 toolu_2, toolu_3, v0-11" {
		t.Errorf("calls of the messages: %s", got)
	}
	if got := strings.Join(used, "; "); got != "3120+88, 0 cached; 3402+61, 3100 cached" {
		t.Errorf("usage: %s", got)
	}
}

// An observation repeats the whole answer of its action; a session does not.
func TestOpenHandsKeepsAnswersOnce(t *testing.T) {
	f, _ := formats.Lookup("openhands")
	data := sample(t, "openhands", "v0.json")
	var s adaptertest.Session
	s.Import(t, f, "v0.json", data)
	for _, phrase := range []string{"I'll list the files and read the README in parallel.", "The README documents the build. I am done."} {
		n := 0
		for _, r := range s.Records {
			n += strings.Count(string(r.Line), phrase)
		}
		if in := strings.Count(string(data), phrase); in < 2 || n != 1 {
			t.Errorf("%q stands %d times in the transcript, %d times in the session", phrase, in, n)
		}
	}
}

func TestOpenHandsFromOthers(t *testing.T) {
	f, _ := formats.Lookup("openhands")
	s := nativeSession()
	out, lost := s.Export(t, f)
	var again adaptertest.Session
	if _, l := again.Import(t, f, "x.jsonl", out); len(l) > 0 {
		t.Errorf("its own export has carried: %v", l)
	}
	compareSaid(t, s, &again)
	if got := fmt.Sprint(lost); !strings.Contains(got, "audio") || !strings.Contains(got, `"note"`) || len(lost) != 2 {
		t.Errorf("carried: %v", lost)
	}
	ids := map[string]bool{}
	for line := range bytes.Lines(out) {
		var e struct{ ID, Kind, Source string }
		if err := json.Unmarshal(line, &e); err != nil || e.Kind == "" || e.Source == "" || ids[e.ID] || len(e.ID) != 36 {
			t.Errorf("%v: %s", err, line)
		}
		ids[e.ID] = true
	}
}

func FuzzImportOpenHands(f *testing.F) { fuzzFormat(f, "openhands") }

func sample(t testing.TB, format, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + format + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
