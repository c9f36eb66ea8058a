package eval

import (
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Outputs is what is left of large tool outputs when they are shortened to a cap.
type Outputs struct {
	Method   string `json:"method"`
	Cap      int    `json:"cap"`      // tokens
	Needles  Mean   `json:"needles"`  // identifiers first seen there and used soon after
	Names    Mean   `json:"names"`    // of failing tests
	Messages Mean   `json:"messages"` // of their failures
	Outputs  int    `json:"outputs"`  // that exceed the cap
}

// caps are those that outputs are shortened to, in tokens.
var caps = []int{250, 500, 1000}

// soon is in how many messages after it a needle is used.
const soon = 20

// HeadAndTail is what ctxfs is compared with.
const HeadAndTail = "head + tail"

// outputs shortens all large tool outputs of a session that stand in the half of its stretches.
func (s *Session) outputs(r *reader, half Stretches) ([]Outputs, error) {
	past, calls := newPast(r), s.callsBefore()
	var out []Outputs
	for _, method := range []string{HeadAndTail, Ctxfs} {
		for _, c := range caps {
			out = append(out, Outputs{Method: method, Cap: c})
		}
	}
	for line := 1; line <= s.Messages.Len(); line++ {
		text := s.texts[line-1]
		if s.isResult(line) && s.tokens[line-1] > caps[0] && half.hasCall(s, calls[line]) {
			needles := s.needles(past, line)
			fresh := newPast(r)
			fresh.add(text)
			failed := failuresIn(text)
			for i := range out {
				if s.tokens[line-1] <= out[i].Cap {
					continue
				}
				short, err := s.shortened(line, out[i].Cap, out[i].Method)
				if err != nil {
					return nil, err
				}
				out[i].Outputs++
				lines := r.read(short)
				_, inContext := fresh.kept(needles, lines)
				var kept Share
				for _, id := range needles {
					kept.add(inContext[id])
				}
				out[i].Needles.addShare(kept)
				out[i].Names.addShare(failed.names.keptIn(r, lines))
				out[i].Messages.addShare(failed.messages.keptIn(r, lines))
			}
		}
		past.add(text)
	}
	return out, nil
}

// shortened is a tool output cut to a cap by a method.
func (s *Session) shortened(line, most int, method string) (string, error) {
	if method == Ctxfs {
		return record.RenderRecord(s.Messages, line, most, s.count)
	}
	return s.headTail(line, most), nil
}

// headTail is a record cut to the first and last lines of its content, most tokens (by weight) of it.
func (s *Session) headTail(line, most int) string {
	heading, body, _ := strings.Cut(s.texts[line-1], "\n")
	short, _ := compress.HeadTail(body, most, fmt.Sprintf("%s/%d.txt", ctxabi.LineDir, line))
	return heading + "\n" + strings.TrimSuffix(short, "\n") + "\n"
}

// needles returns the identifiers that the agent learns from an output and uses soon.
func (s *Session) needles(past *past, line int) (ids []int32) {
	own := map[int32]bool{}
	for _, l := range past.r.read(s.texts[line-1]) {
		for _, id := range l.ids {
			own[id] = past.seen[id] == 0
		}
	}
	for next := line + 1; next <= min(line+soon, s.Messages.Len()); next++ {
		if !s.isAgent(next) {
			continue
		}
		for _, l := range past.r.read(s.spoken(next)) {
			for _, id := range l.ids {
				if own[id] {
					own[id] = false
					ids = append(ids, id)
				}
			}
		}
	}
	return ids
}

// lineList is lines of an output.
type lineList []string

// keptIn counts the lines that stand in a text.
func (l lineList) keptIn(r *reader, text []*line) (s Share) {
	for _, wanted := range l {
		for _, o := range r.read(wanted) {
			kept := false
			for _, t := range text {
				kept = kept || t.resembles(o)
			}
			s.add(kept)
		}
	}
	return s
}

// failures are the lines of a test log that name failing tests, and those that say what is wrong.
type failures struct{ names, messages lineList }

// How test runners print failures: go test, pytest, unittest, cargo, jest and its kin, TAP.
var (
	failedName    = lazy.Regexp(`^\s*(--- FAIL: \S+|FAILED \S+::\S+|(FAIL|ERROR): \w+ \(|test \S+ \.\.\. FAILED|[✕✗×] \S|● \S.* › |not ok \d+)`)
	failedMessage = lazy.Regexp(`^(E   +\S|\s+\w+_test\.go:\d+: |\w*(Error|Exception|Failure): |thread '.*' panicked at |panic: |\s+(Expected|Received): |AssertionError)`)
)

func failuresIn(text string) (f failures) {
	for s := range strings.SplitSeq(text, "\n") {
		if failedName().MatchString(s) {
			f.names = append(f.names, s)
		}
	}
	if len(f.names) == 0 {
		return f // an error message is no failing test
	}
	for s := range strings.SplitSeq(text, "\n") {
		if failedMessage().MatchString(s) {
			f.messages = append(f.messages, s)
		}
	}
	return f
}
