package recipetest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// item is one entry of pack.json's items.
type item struct {
	Kind    string `json:"kind"`
	Source  string `json:"source"`
	Range   string `json:"range"`
	RangeV1 string `json:"range_v1"` // of the newest messages, whose range is tail:N
	Phase   string `json:"phase"`
	Path    string `json:"path"`
	Tokens  int    `json:"tokens"`
	Cut     bool   `json:"cut"`
}

// packJSON is what pack.json promises, as far as it is looked at here.
type packJSON struct {
	Budget       int             `json:"budget_tokens"`
	Tokens       int             `json:"tokens"`
	Framing      int             `json:"framing_tokens"`
	Epoch        json.RawMessage `json:"epoch"`
	EpochReason  string          `json:"epoch_reason"`
	Compactions  int             `json:"compactions"`
	PrefixBytes  int             `json:"prefix_bytes"`
	PrefixSHA256 string          `json:"prefix_sha256"`
	HeadSHA256   string          `json:"head_sha256"`
	PackID       string          `json:"pack_id"`
	Stale        bool            `json:"stale"`
	Items        []item          `json:"items"`
	Omitted      []struct {
		Source string `json:"source"`
		Range  string `json:"range"`
		Reason string `json:"reason"`
		Path   string `json:"path"`
	} `json:"omitted"`
}

// built is one pack as it was read.
type built struct {
	packJSON
	md, json string
}

// pack reads pack.md and pack.json of one build and checks what holds for every pack.
func (s *stage) pack() built {
	s.t.Helper()
	b, err := s.tryPack()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.tail("context/errors.jsonl"))
	}
	for _, what := range b.wrong() {
		s.t.Error(what)
	}
	return b
}

// settled is the pack when all that it waited for is there, files of the workspace and generators, however slow the machine is.
func (s *stage) settled() (b built) {
	s.t.Helper()
	defer func() {
		if b.Stale {
			s.t.Logf("the report:\n%s", s.tail("context/pack.report.md"))
		}
	}()
	harness.Eventually(s.t, "the pack to have all it waits for", func() bool { b = s.pack(); return !b.Stale })
	return b
}

// shown is the pack once a file of the workspace stands in it. Whoever asks for the first one of a user starts the
// program that reads them, which takes longer on a busy machine than a short wait_ms lets a reader wait.
func (s *stage) shown(id string) (b built) {
	s.t.Helper()
	harness.Eventually(s.t, "the workspace to give "+id, func() bool { b = s.pack(); return b.block(id) != "" })
	return b
}

// tryPack reads pack.md and pack.json until both are of one build.
func (s *stage) tryPack() (b built, err error) {
	for range 50 {
		before, err := os.ReadFile(s.Path("context/pack.json"))
		if err != nil {
			return b, err
		}
		md, err := os.ReadFile(s.Path("context/pack.md"))
		if err != nil {
			return b, err
		}
		after, err := os.ReadFile(s.Path("context/pack.json"))
		if err != nil {
			return b, err
		}
		if !bytes.Equal(before, after) {
			continue
		}
		b = built{md: string(md), json: string(after)}
		return b, json.Unmarshal(after, &b.packJSON)
	}
	return b, errors.New("the pack never rests")
}

// wrong checks what can be checked of any pack by itself.
func (b built) wrong() (found []string) {
	bad := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if b.Budget > 0 && b.Tokens > b.Budget {
		bad("%d tokens, budget %d", b.Tokens, b.Budget)
	}
	if b.PrefixBytes < 0 || b.PrefixBytes > len(b.md) {
		bad("prefix_bytes %d of %d", b.PrefixBytes, len(b.md))
	} else if sum := sha256.Sum256([]byte(b.md[:b.PrefixBytes])); !strings.HasSuffix(b.PrefixSHA256, hex.EncodeToString(sum[:])) {
		bad("prefix_sha256 is %s, the prefix has %x", b.PrefixSHA256, sum)
	}
	sum := b.Framing
	for _, it := range b.Items {
		sum += it.Tokens
	}
	if sum != b.Tokens {
		bad("items and framing have %d tokens, the pack %d", sum, b.Tokens)
	}
	for _, o := range b.Omitted {
		if o.Reason == "" {
			bad("an omission without a reason: %+v", o)
		}
	}
	return found
}

// unaccounted returns what is wrong with the account of the session's n messages: each stands in exactly one item or omission.
func (b built) unaccounted(n int) (found []string) {
	seen := make([]int, n+1)
	add := func(source, ranges string) {
		if source != "messages" && source != "messages.jsonl" || ranges == "" {
			return
		}
		for part := range strings.SplitSeq(ranges, ",") {
			span, err := ctxabi.ParseSpan(strings.TrimSpace(part))
			if err != nil || span.To > n {
				found = append(found, fmt.Sprintf("range %q of %d messages: %v", ranges, n, err))
				continue
			}
			for line := span.From; line <= span.To; line++ {
				seen[line]++
			}
		}
	}
	for _, it := range b.Items {
		if it.Kind != "key_lines" && it.Kind != "user_words" && it.Kind != "state" && it.Kind != "summary" && it.Kind != "recall" && it.Kind != "todo" && it.Kind != "goal" {
			add(it.Source, cmp.Or(it.RangeV1, it.Range))
		}
	}
	for _, o := range b.Omitted {
		add(o.Source, o.Range)
	}
	for line, count := range seen[1:] {
		if count != 1 {
			found = append(found, fmt.Sprintf("message %d stands in %d items and omissions", line+1, count))
		}
	}
	return found
}

// blocks returns the ids of the blocks of a pack, in their order.
func (b built) blocks() (ids []string) {
	for line := range strings.Lines(b.md) {
		if id, ok := strings.CutPrefix(line, "# Context Block: "); ok {
			ids = append(ids, strings.TrimSuffix(id, "\n"))
		}
	}
	return ids
}

// block returns the text of a block without its heading and the marks around it, "" where there is none.
func (b built) block(id string) string {
	_, rest, found := strings.Cut("\n"+b.md, "\n# Context Block: "+id+"\n")
	if !found {
		return ""
	}
	text, _, more := strings.Cut("\n"+rest, "\n# Context Block: ")
	text = strings.TrimPrefix(text, "\n")
	if more {
		text += "\n"
	}
	return harness.Unmarked(text)
}

// want fails the test unless a block holds exactly text.
func (s *stage) want(b built, id, text string) {
	s.t.Helper()
	if got := b.block(id); got != text {
		s.t.Errorf("block %s:\n%q\nwant\n%q\nin\n%s\n%s", id, got, text, b.md, s.tail("context/pack.report.md"))
	}
}
