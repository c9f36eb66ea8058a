// Package packtest reads packs through the mount, as an agent does.
package packtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	rec1 = `{"role":"user","content":"Make the retry configurable."}` + "\n"
	rec2 = `{"role":"assistant","content":"I will add RetryMax."}` + "\n"
)

// item is one entry of pack.json's items.
type item struct {
	Kind   string `json:"kind"`
	Source string `json:"source"`
	Range  string `json:"range"`
	Tokens int    `json:"tokens"`
	SHA256 string `json:"sha256"`
	Cut    bool   `json:"cut"`
	Extra  bool   `json:"extra"`
}

// packJSON is what pack.json promises.
type packJSON struct {
	Session      string          `json:"session"`
	Agent        string          `json:"agent"`
	Budget       int             `json:"budget_tokens"`
	Tokens       int             `json:"tokens"`
	Framing      int             `json:"framing_tokens"`
	Epoch        json.RawMessage `json:"epoch"`
	EpochReason  string          `json:"epoch_reason"`
	Compactions  int             `json:"compactions"`
	PrefixBytes  int             `json:"prefix_bytes"`
	PrefixSHA256 string          `json:"prefix_sha256"`
	PackID       string          `json:"pack_id"`
	Stale        bool            `json:"stale"`
	Items        []item          `json:"items"`
	Omitted      []struct {
		Source string `json:"source"`
		Range  string `json:"range"`
		Bytes  int64  `json:"bytes"`
		Reason string `json:"reason"`
		Path   string `json:"path"`
	} `json:"omitted"`
}

// built is one pack as it was read.
type built struct {
	packJSON
	md string
}

// read reads pack.json and pack.md and checks what holds for every pack. The
// two are of one build: it reads again where an answer of the workspace that
// came late made a new one in between, or has yet to come.
func read(t *testing.T, s *harness.Session) built {
	t.Helper()
	var b built
	after := s.Read("context/pack.json")
	harness.Eventually(t, "the pack to rest", func() bool {
		before := after
		b = built{md: s.Read("context/pack.md")}
		after = s.Read("context/pack.json")
		if err := json.Unmarshal([]byte(after), &b.packJSON); err != nil {
			t.Fatalf("pack.json: %v", err)
		}
		return before == after && !b.Stale
	})
	if b.Session == "" || b.Agent == "" || len(b.Epoch) == 0 || !strings.HasPrefix(b.PackID, "sha256-") {
		t.Errorf("pack.json lacks a field: session %q agent %q epoch %s pack_id %q", b.Session, b.Agent, b.Epoch, b.PackID)
	}
	if b.Budget > 0 && b.Tokens > b.Budget {
		t.Errorf("%d tokens, budget %d", b.Tokens, b.Budget)
	}
	if b.PrefixBytes < 0 || b.PrefixBytes > len(b.md) {
		t.Fatalf("prefix_bytes %d of %d", b.PrefixBytes, len(b.md))
	}
	if sum := sha256.Sum256([]byte(b.md[:b.PrefixBytes])); !strings.HasSuffix(b.PrefixSHA256, hex.EncodeToString(sum[:])) {
		t.Errorf("prefix_sha256 is %s, the prefix has %x", b.PrefixSHA256, sum)
	}
	sum := b.Framing
	for _, it := range b.Items {
		sum += it.Tokens
	}
	if sum != b.Tokens {
		t.Errorf("items and framing have %d tokens, the pack %d", sum, b.Tokens)
	}
	return b
}

// account fails the test unless each of the session's n messages stands in exactly one item or omission.
func (b built) account(t *testing.T, n int) {
	t.Helper()
	seen := make([]int, n+1)
	add := func(source, ranges string) {
		if !strings.HasPrefix(source, "messages") || ranges == "" {
			return
		}
		for _, part := range strings.Split(ranges, ",") {
			span, err := ctxabi.ParseSpan(strings.TrimSpace(part))
			if tail, is := strings.CutPrefix(part, "tail:"); is {
				var last int
				last, err = strconv.Atoi(tail)
				span = ctxabi.Span{From: n - last + 1, To: n}
			}
			if err != nil || span.To > n {
				t.Errorf("range %q of %d messages: %v", ranges, n, err)
				continue
			}
			for line := span.From; line <= span.To; line++ {
				seen[line]++
			}
		}
	}
	for _, it := range b.Items {
		if !it.Extra {
			add(it.Source, it.Range)
		}
	}
	for _, o := range b.Omitted {
		add(o.Source, o.Range)
		if o.Reason == "" {
			t.Errorf("an omission without a reason: %+v", o)
		}
	}
	for line, count := range seen[1:] {
		if count != 1 {
			t.Errorf("message %d stands in %d items and omissions", line+1, count)
		}
	}
}

// continues fails the test unless the prefix of b begins next, where the epoch is the same.
func (b built) continues(t *testing.T, next built) (same bool) {
	t.Helper()
	if string(b.Epoch) != string(next.Epoch) {
		return false
	}
	if !strings.HasPrefix(next.md, b.md[:b.PrefixBytes]) {
		i := 0
		for i < b.PrefixBytes && i < len(next.md) && b.md[i] == next.md[i] {
			i++
		}
		t.Errorf("epoch %s: the prefix of %d bytes holds for %d only:\n%q\n%q", b.Epoch, b.PrefixBytes, i, around(b.md, i), around(next.md, i))
	}
	return true
}

func around(s string, i int) string { return s[max(0, i-40):min(len(s), i+80)] }

// cut reports whether the message at line is shown shortened.
func (b built) cut(line int) bool {
	return slices.ContainsFunc(b.Items, func(it item) bool {
		span, err := ctxabi.ParseSpan(it.Range)
		return err == nil && it.Cut && span.From <= line && line <= span.To
	})
}
