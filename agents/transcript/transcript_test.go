package transcript

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// stubborn is a session that refuses lines with "bad" in them, and all once it
// is full. As a mount it takes what stands before a refused line.
type stubborn struct {
	history
	lines []string
	full  int // how many lines it takes
}

func (s *stubborn) control(string) string { return "" }
func (s *stubborn) size(string) (n int64, err error) {
	return int64(len(strings.Join(s.lines, ""))), nil
}

func (s *stubborn) read(_ string, off int64) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(strings.Join(s.lines, "")[off:])), nil
}

func (s *stubborn) append(log string, lines []byte) error {
	for line := range strings.Lines(string(lines)) {
		if strings.Contains(line, "bad") {
			return ctxabi.E("append", log, ctxabi.ErrMalformed, "it is bad")
		}
		if len(s.lines) == s.full {
			return ctxabi.E("append", log, ctxabi.ErrNoSpace, "the disk is full")
		}
		s.lines = append(s.lines, line)
	}
	return nil
}

// silent shows no progress.
type silent struct{}

func (silent) Reader(r io.Reader) io.Reader { return r }
func (silent) Added(int)                    {}

func TestWhatASessionRefusesIsALoss(t *testing.T) {
	for _, c := range []struct {
		full         int
		want, failed string
		losses       int
	}{
		{100, "abca", "", 2},
		{2, "ab", "the disk is full", 1},
		{3, "abc", "the disk is full", 2},
	} {
		s := &stubborn{full: c.full}
		im := &Importer{ctx: context.Background(), losses: &Losses{}, bar: silent{}}
		im.main = newTarget(im, s, "")
		var err error
		for _, text := range []string{"a", "b", "bad1", "c", "bad2", "a"} {
			r := adapter.Record{Line: adapter.Raw(adapter.Object{{Key: "role", Value: adapter.Raw("user")}, {Key: "content", Value: adapter.Raw(text)}})}
			err = errors.Join(err, im.main.add(r))
		}
		err = errors.Join(err, im.flush())
		var got string
		for _, line := range s.lines {
			o, _ := adapter.ParseObject([]byte(line))
			got += o.Text("content")
		}
		if got != c.want || im.Count.Messages != len(c.want) || len(*im.losses) != c.losses {
			t.Errorf("full after %d: %q, %d counted, losses %v", c.full, got, im.Count.Messages, *im.losses)
		}
		if (err == nil) != (c.failed == "") || err != nil && !strings.Contains(err.Error(), c.failed) {
			t.Errorf("full after %d: %v", c.full, err)
		}
	}
}

func TestChildrenHaveNames(t *testing.T) {
	seen := map[string]string{}
	for _, chain := range []string{"agent-a2271d1", "a b", "a/b", "a-b", "../..", "été", "-x", ".", strings.Repeat("n", 200), strings.Repeat("n", 201)} {
		name := childName(chain)
		if err := ctxabi.ValidName(name); err != nil || len(name) > 64 {
			t.Errorf("%q is called %q: %v", chain, name, err)
		}
		if ctxabi.ValidName(chain) == nil && len(chain) <= 64 && name != chain {
			t.Errorf("%q is a name, and called %q", chain, name)
		}
		if other, twice := seen[name]; twice {
			t.Errorf("%q and %q are both called %q", chain, other, name)
		}
		if seen[name] = chain; childName(chain) != name {
			t.Errorf("%q has several names", chain)
		}
	}
}

func TestEventFilesHaveNumbers(t *testing.T) {
	for name, want := range map[string]int{"event-00012-5f1c.json": 12, "x/event-7.json": 7, "12.json": 12, "0.json": 0} {
		if n, ok := eventNumber(name); !ok || n != want {
			t.Errorf("%s: %d %v", name, n, ok)
		}
	}
	for _, name := range []string{"base_state.json", "event-x.json", "-3.json", "12.jsonl", "12-a.json", ".json"} {
		if n, ok := eventNumber(name); ok {
			t.Errorf("%s has the number %d", name, n)
		}
	}
}

// An answer of several parts is stamped with the rests of several source records: its model is in them.
func TestModelOfAnswerInParts(t *testing.T) {
	for rest, want := range map[string]string{
		`{"message":{"model":"one"}}`: "one",
		`{"parts":[1,1],"records":[{"type":"assistant","message":{"model":"claude-x"}},{"message":{"model":"claude-x"}}]}`: "claude-x",
		`{"parts":[1,1],"records":[{"type":"assistant"},{"message":{"model":"claude-x"}}]}`:                                "claude-x",
		`[{"model":"first"},{"model":"second"}]`:                                                                           "first",
		`[{"a":1},{"info":{"modelID":"second"}}]`:                                                                          "second",
		`{"records":"model"}`:                          "",
		`{"message":{"model":"<synthetic>"}}`:          "",
		`{"parts":[1],"records":[{"model":"<none>"}]}`: "",
	} {
		r := adapter.Record{Line: []byte(`{"role":"assistant","content":"hello","import":{"format":"claude-code","ids":["a"],"at":[1],"rest":` + rest + `}}`)}
		if got := modelIn(r); got != want {
			t.Errorf("%s: %q, want %q", rest, got, want)
		}
	}
}
