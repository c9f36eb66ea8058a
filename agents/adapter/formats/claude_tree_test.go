package formats_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
)

// claudeLines makes a transcript of short lines: uuid, parent ("-" for null,
// "." for none), what it is, and what belongs to that: "a2 a1 call m1 t1".
func claudeLines(lines ...string) []byte {
	var b strings.Builder
	for _, line := range lines {
		f := append(strings.Fields(line), "", "", "")
		r := map[string]any{"uuid": f[0], "parentUuid": f[1], "sessionId": "s"}
		switch f[1] {
		case "-":
			r["parentUuid"] = nil
		case ".":
			delete(r, "parentUuid")
		}
		if kind, side := strings.CutSuffix(f[2], "~"); side {
			f[2], r["isSidechain"] = kind, true
		}
		user := func(content any) {
			r["type"], r["message"] = "user", map[string]any{"role": "user", "content": content}
		}
		answer := func(part map[string]any) {
			r["type"] = "assistant"
			r["message"] = map[string]any{"role": "assistant", "id": f[3], "content": []any{part}, "usage": map[string]any{"input_tokens": 1}}
		}
		switch f[2] {
		case "prompt":
			user("I say " + f[0])
		case "elsewhere":
			user("I say " + f[0])
			r["sessionId"] = f[3]
		case "meta":
			user("meta " + f[0])
			r["isMeta"] = true
			if f[3] != "" {
				r["sourceToolUseID"] = f[3]
			}
		case "summary":
			user("what was " + f[0])
			r["isCompactSummary"], r["isVisibleInTranscriptOnly"] = true, true
		case "result":
			user([]any{map[string]any{"type": "tool_result", "tool_use_id": f[3], "content": "out of " + f[3]}})
		case "queued":
			r["type"], r["attachment"] = "attachment", map[string]any{"type": "queued_command", "prompt": "and " + f[0]}
		case "file":
			r["type"], r["attachment"] = "attachment", map[string]any{"type": "file", "filename": "/w/" + f[0],
				"content": map[string]any{"type": "text", "file": map[string]any{"content": "text of " + f[0]}}}
		case "text":
			answer(map[string]any{"type": "text", "text": f[0]})
		case "call":
			answer(map[string]any{"type": "tool_use", "id": f[4], "name": "Bash", "input": map[string]any{}})
		case "boundary":
			r["type"], r["subtype"] = "system", "compact_boundary"
			if f[3] != "" {
				r["logicalParentUuid"] = f[3]
			}
		case "apierror":
			answer(map[string]any{"type": "text", "text": "API Error"})
			r["isApiErrorMessage"] = true
		default:
			r["type"] = f[2]
		}
		raw, _ := json.Marshal(r)
		b.Write(append(raw, '\n'))
	}
	return []byte(b.String())
}

// claudeSaid returns the messages by the uuids that they are made of, then those that were left.
func claudeSaid(records []adapter.Record) (messages, left string) {
	for _, r := range records {
		s, _ := r.Stamp()
		if !r.Event || r.Compacted != nil {
			messages += " " + strings.Join(s.IDs, "+")
		} else if o, _ := adapter.ParseObject(r.Line); o.Has("abandoned") {
			left += " " + s.IDs[0]
		}
	}
	return strings.TrimPrefix(messages, " "), strings.TrimPrefix(left, " ")
}

// claudeTreeCase is a transcript in the words of claudeLines, a line between bars, and what becomes of it.
type claudeTreeCase struct {
	name, lines, messages, left string
	losses                      int
}

func TestClaudeConversation(t *testing.T) {
	testClaudeTree(t, []claudeTreeCase{
		{"a line", "u1 - prompt|a1 u1 text m1|u2 a1 prompt|a2 u2 text m2", "u1 a1 u2 a2", "", 0},
		{"parallel calls in a row, results on their own calls", "u - prompt|a u text m|c1 a call m t1|c2 c1 call m t2|r1 c1 result t1|r2 c2 result t2|z r2 text n",
			"u a+c1+c2 r1 r2 z", "", 0},
		{"parallel calls side by side", "u - prompt|c1 u call m t1|c2 u call m t2|r1 c1 result t1|r2 c2 result t2|z r1 text n", "u c1+c2 r1 r2 z", "", 0},
		{"results between the parts of an answer", "u - prompt|a u text m|c1 a call m t1|r1 c1 result t1|c2 c1 call m t2|r2 c2 result t2|z r2 text n", "u a+c1+c2 r1 r2 z", "", 0},
		{"an answer that goes on behind a result", "u - prompt|c1 u call m t1|r1 c1 result t1|c2 r1 call m t2|r2 c2 result t2", "u c1+c2 r1 r2", "", 0},
		{"a result that comes late", "u - prompt|c1 u call m t1|c2 c1 call m t2|r2 c2 result t2|z r2 text n|r1 c1 result t1", "u c1+c2 r2 z r1", "", 0},
		{"the next answer hangs on the call, not on its result", "u - prompt|c1 u call m t1|r1 c1 result t1|z c1 text n|y r1 text o", "u c1 r1 z y", "", 0},
		{"an edited prompt", "u1 - prompt|a1 u1 text m1|u2 a1 prompt|a2 u2 text m2|v2 a1 prompt|b2 v2 text m3", "u1 a1 v2 b2", "u2 a2", 0},
		{"edited twice", "u1 - prompt|a1 u1 text m1|u2 a1 prompt|v2 a1 prompt|b2 v2 text m3|w2 a1 prompt", "u1 a1 w2", "u2 v2 b2", 0},
		{"an edit within a branch that was left", "u1 - prompt|a1 u1 text m|u2 a1 prompt|a2 u2 text n|u3 a2 prompt|v3 a2 prompt|v2 a1 prompt", "u1 a1 v2", "u2 a2 u3 v3", 0},
		{"an answer made anew", "u1 - prompt|a1 u1 text m1|b1 u1 text m2|u2 b1 prompt", "u1 b1 u2", "a1", 0},
		{"parallel calls that were left", "h - prompt|u h prompt|c1 u call m t1|c2 c1 call m t2|r1 c1 result t1|r2 c2 result t2|z r2 text n|v h prompt|y v text o", "h v y", "u c1 c2 r1 r2 z", 0},
		{"a prompt behind another result of the same turn", "u - prompt|c1 u call m t1|c2 c1 call m t2|r1 c1 result t1|r2 c2 result t2|p r1 prompt|q r2 prompt", "u c1+c2 r1 r2 q", "p", 0},
		{"two sessions in one file", "u1 - prompt|a1 u1 text m1|v1 - elsewhere other|b1 v1 text m2", "u1 a1 v1 b1", "", 0},
		{"the rewind hangs on a note", "u1 - prompt|a1 u1 text m1|n a1 system|u2 n prompt|v2 a1 prompt", "u1 a1 v2", "u2", 0},
		{"notes and progress within", "h - progress|u1 h prompt|p1 u1 progress|a1 u1 call m t1|p2 a1 progress|r1 p2 result t1|a2 r1 text n|p3 r1 progress", "u1 a1 r1 a2", "", 0},
		{"a beginning that is no prompt", "u1 - prompt|a1 u1 text m|n - system|u2 n prompt|x - text o", "u1 a1 u2 x", "", 1},
		{"an error in the model's place", "u1 - prompt|e u1 apierror m|a1 e text n", "u1 a1", "", 0},
		{"queued while it worked", "u - prompt|c u call m t1|r c result t1|q1 r queued|q2 r queued|z q2 text n", "u c r q1 q2 z", "", 0},
		{"files beside a prompt", "u - prompt|f u file|g f file|a g text m|v a prompt|b v text n", "u f g a v b", "", 0},
		{"a rewind behind a file", "u1 - prompt|a1 u1 text m1|f a1 file|u2 f prompt|g u2 file|a2 g text m2|v2 a1 prompt", "u1 a1 f v2", "u2 g a2", 0},
		{"a file between calls and results", "u - prompt|c u call m t1|f c file|d f call m t2|r c result t1|g r file|s d result t2|z s text n", "u c+d f r g s z", "", 0},
		{"what a skill says", "u - prompt|c u call m t1|r c result t1|k c meta t1|z k text n|v z prompt", "u c r k z v", "", 0},
		{"a compaction", "u1 - prompt|a1 u1 text m1|b - boundary a1|s b summary|u2 s prompt", "u1 a1 s u2", "", 0},
		{"a compaction that keeps the tail", "u1 - prompt|a1 u1 text m1|b - boundary a1|s b summary|u2 a1 prompt", "u1 a1 s u2", "", 0},
		{"a compaction whose past is elsewhere", "b - boundary gone|s b summary|u s prompt", "s u", "", 0},
		{"a compaction without a link", "u1 - prompt|a1 u1 text m1|b - boundary|s b summary|u2 s prompt|v2 s prompt", "u1 a1 s v2", "u2", 0},
		{"a rewind behind a compaction", "u1 - prompt|b - boundary u1|s b summary|a s text m|u2 a prompt|v2 a prompt", "u1 s a v2", "u2", 0},
		{"goes on from another file", "u1 gone prompt|a1 u1 text m1", "u1 a1", "", 0},
		{"parents that were never written", "u1 - prompt|a1 x text m1|u2 y prompt|a2 u2 text m2|u3 a2 prompt", "u1 a1 u2 a2 u3", "", 1},
		{"an answer in two, its second half without a parent", "u1 - prompt|a1 u1 text m|c1 gone call m t1|r1 c1 result t1", "u1 a1+c1 r1", "", 1},
		{"its own parent", "u1 u1 prompt|a1 u1 text m", "u1 a1", "", 1},
		{"a circle", "u1 a1 prompt|a1 u1 text m|u2 a1 prompt", "u1 a1 u2", "", 1},
		{"no parents at all", "u1 . prompt|a1 . text m|u2 . prompt|a2 . text n", "u1 a1 u2 a2", "", 0},
		{"an id of a message that comes again", "u1 - prompt|a1 u1 text m|u2 a1 prompt|a2 u2 text m|u3 a2 prompt", "u1 a1 u2 a2 u3", "", 0},
		{"a permission that was answered days later", "u - prompt|c u call m t1|p c prompt|a p text n|r c result t1|z r text o", "u c p a r z", "", 0},
	})
}

// A parent that the program got wrong hides nothing that was said; only a prompt replaces a prompt.
func TestWrongParentHidesNothing(t *testing.T) {
	testClaudeTree(t, []claudeTreeCase{
		{"a continuation on an old leaf", "u1 - prompt|a1 u1 text m1|u2 a1 prompt|a2 u2 text m2|u3 a2 prompt|a3 u3 text m3|k a1 meta|b k text m4|u4 b prompt", "u1 a1 u2 a2 u3 a3 k b u4", "", 1},
		{"an answer on an old leaf", "u1 - prompt|a1 u1 text m1|u2 a1 prompt|a2 u2 text m2|b a1 text m3|u3 b prompt", "u1 a1 u2 a2 b u3", "", 1},
		{"an answer on an old prompt", "u1 - prompt|a1 u1 text m1|u2 a1 prompt|a2 u2 text m2|b u1 text m3", "u1 a1 u2 a2 b", "", 1},
		{"an answer anew behind a result", "u1 - prompt|c u1 call m1 t1|r c result t1|b u1 text m2", "u1 c r b", "", 1},
		{"a result of no known call", "u1 - prompt|a1 u1 text m1|u2 a1 prompt|a2 u2 text m2|r a1 result t9|a3 r text m3", "u1 a1 u2 a2 r a3", "", 1},
		{"a prompt that follows no turn", "u1 - prompt|a1 u1 text m1|u2 a1 prompt|a2 u2 text m2|p u2 prompt|a3 p text m3", "u1 a1 u2 a2 p a3", "", 1},
		{"that prompt edited", "u1 - prompt|a1 u1 text m1|u2 a1 prompt|a2 u2 text m2|p u2 prompt|a3 p text m3|q u2 prompt|a4 q text m4", "u1 a1 u2 a2 q a4", "p a3", 1},
		{"a second root", "u1 - prompt|a1 u1 text m1|v1 - prompt|b1 v1 text m2", "u1 a1 v1 b1", "", 1},
		{"a second root that is no prompt", "u1 - prompt|a1 u1 text m1|k - meta|b1 k text m2", "u1 a1 k b1", "", 1},
		{"a second root in either session", "u1 - prompt|v1 - elsewhere o|u2 - prompt|v2 - elsewhere o", "u1 v1 u2 v2", "", 1},
		{"no parent but null", "u1 - prompt|a1 - text m1|u2 - prompt|c - call m2 t1|r - result t1|a2 - text m3", "u1 a1 u2 c r a2", "", 1},
		{"a summary without a boundary", "u1 - prompt|a1 u1 text m1|s - summary|u2 s prompt", "u1 a1 s u2", "", 0},
		{"a continuation on a branch that was left", "u1 - prompt|a1 u1 text m1|u2 a1 prompt|a2 u2 text m2|v2 a1 prompt|b2 v2 text m3|k a2 meta|b3 k text m4", "u1 a1 v2 b2 k b3", "u2 a2", 1},
		{"a prompt on a branch that was left", "u1 - prompt|a1 u1 text m1|u2 a1 prompt|a2 u2 text m2|v2 a1 prompt|b2 v2 text m3|u3 a2 prompt", "u1 a1 v2 b2 u3", "u2 a2", 1},
		{"a rewind behind it", "u1 - prompt|a1 u1 text m1|u2 a1 prompt|a2 u2 text m2|k a1 meta|b k text m4|u3 b prompt|a3 u3 text m5|v3 b prompt", "u1 a1 u2 a2 k b v3", "u3 a3", 1},
		{"a rewind to before it", "u1 - prompt|a1 u1 text m1|u2 a1 prompt|a2 u2 text m2|k a1 meta|b k text m4|v2 a1 prompt", "u1 a1 v2", "u2 a2 k b", 1},
		{"queued on a branch that was left", "u1 - prompt|a1 u1 text m1|u2 a1 prompt|v2 a1 prompt|q u2 queued", "u1 a1 v2 q", "u2", 1},
	})
}

func testClaudeTree(t *testing.T, cases []claudeTreeCase) {
	f, _ := formats.Lookup("claude-code")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			data := claudeLines(strings.Split(c.lines, "|")...)
			var s adaptertest.Session
			records, losses := s.Import(t, f, "", data)
			if messages, left := claudeSaid(records); messages != c.messages || left != c.left {
				t.Errorf("got  %q, left %q\nwant %q, left %q", messages, left, c.messages, c.left)
			}
			if len(losses) != c.losses {
				t.Errorf("losses: %v", losses)
			}
			out, _ := s.Export(t, f)
			if diff := adaptertest.CanonicalEqual(data, out); diff != "" {
				t.Error(diff)
			}
			if c.left != "" {
				return // what was imported before it was left stays
			}
			var grown adaptertest.Session
			for end := range bytes.Count(data, []byte("\n")) {
				grown.Import(t, f, "", bytes.Join(bytes.SplitAfter(data, []byte("\n"))[:end+1], nil))
			}
			ids := func(messages string) []string {
				return slices.Sorted(slices.Values(strings.Fields(strings.ReplaceAll(messages, "+", " "))))
			}
			if messages, left := claudeSaid(grown.Records); left != "" || !slices.Equal(ids(messages), ids(c.messages)) {
				t.Errorf("line by line: got %q, left %q", messages, left)
			}
		})
	}
}

// As many usage events as answers in the conversation, each with the last numbers of its answer.
func TestClaudeUsage(t *testing.T) {
	f, _ := formats.Lookup("claude-code")
	data := claudeLines("u1 - prompt", "a1 u1 text m1", "u2 a1 prompt", "a2 u2 text m2", "v2 a1 prompt", "b2 v2 text m3", "c2 b2 call m3 t1", "r2 c2 result t1")
	data = []byte(strings.Replace(string(data), `"id":"t1","input":{},"name":"Bash","type":"tool_use"}],"id":"m3","role":"assistant","usage":{"input_tokens":1}`,
		`"id":"t1","input":{},"name":"Bash","type":"tool_use"}],"id":"m3","role":"assistant","usage":{"input_tokens":1,"output_tokens":77}`, 1))
	var s adaptertest.Session
	records, _ := s.Import(t, f, "", data)
	var got []string
	for _, r := range records {
		if o, _ := adapter.ParseObject(r.Line); o.Text("type") == "usage" {
			got = append(got, string(o.Get("usage")))
		}
	}
	if want := `{"input_tokens":1} {"input_tokens":1,"output_tokens":77}`; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestClaudeGrowsByAnotherBranch(t *testing.T) {
	f, _ := formats.Lookup("claude-code")
	before := []string{"u1 - prompt", "a1 u1 text m1", "u2 a1 prompt", "c1 u2 call m2 t1"}
	after := append(before, "c2 c1 call m2 t2", "r1 c1 result t1", "v2 a1 prompt", "b2 v2 text m3")
	var s adaptertest.Session
	s.Import(t, f, "", claudeLines(before...))
	records, losses := s.Import(t, f, "", claudeLines(after...))
	if messages, left := claudeSaid(records); messages != "v2 b2" || left != "c2 r1" {
		t.Errorf("added %q, left %q", messages, left)
	}
	if len(losses) != 1 || losses[0].Where != "line 7" || !strings.Contains(losses[0].What, "line 3") {
		t.Errorf("losses: %v", losses)
	}
	if messages, _ := claudeSaid(s.Records); messages != "u1 a1 u2 c1 v2 b2" {
		t.Errorf("the session says %q", messages)
	}
	out, _ := s.Export(t, f)
	if diff := adaptertest.CanonicalEqual(claudeLines(after...), out); diff != "" {
		t.Error(diff)
	}
}

func TestClaudeGrowsByAPartOfAnAnswer(t *testing.T) {
	f, _ := formats.Lookup("claude-code")
	before := []string{"u1 - prompt", "c1 u1 call m t1", "r1 c1 result t1"}
	after := append(before, "c2 c1 call m t2", "c3 c2 call m t3", "r3 c3 result t3", "r2 c2 result t2")
	var s adaptertest.Session
	s.Import(t, f, "", claudeLines(before...))
	if records, losses := s.Import(t, f, "", claudeLines(after...)); len(losses) > 0 {
		t.Error(losses)
	} else if messages, left := claudeSaid(records); messages != "c2+c3 r3 r2" || left != "" {
		t.Errorf("added %q, left %q", messages, left)
	}
	out, _ := s.Export(t, f)
	if diff := adaptertest.CanonicalEqual(claudeLines(after...), out); diff != "" {
		t.Error(diff)
	}
}
