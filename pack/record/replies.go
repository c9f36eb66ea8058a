package record

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// replies returns the user's answers from the results in a message, if they belong to a program's
// own question tool. Only a transcript of that program proves this, because plain records may use
// any tool name. It returns ctxabi.ErrIO if it cannot read the call.
func replies(log Records, e ctxabi.Entry, raw []byte, answers []derived.Answer) (out []derived.UserAnswer, err error) {
	var format string
	var call []byte
	for _, a := range answers {
		if e.CallOf == 0 || a.Failed || format == "" && !asksUser("", a.Tool) {
			continue
		}
		if call == nil {
			if format = importedFrom(raw); format == "" {
				return nil, nil
			}
			if call, err = log.Record(int(e.CallOf)); err != nil {
				return nil, Unreadable(Address{Line: int(e.CallOf)}, err)
			}
			if importedFrom(call) != format || isForeign(call) {
				return nil, nil
			}
		}
		calls := Answers{int(e.CallOf), ctxabi.DecodeMessage(call).Calls}
		if asksUser(format, calls.Name(a.Call)) {
			out = append(out, userAnswers(format, calls.Arguments(a.Call), a.Text)...)
		}
	}
	return out, nil
}

// importedFrom returns the format of the transcript that a record was imported from, or "".
func importedFrom(raw []byte) string { return gjson.GetBytes(raw, "import.format").Str }

// isForeign reports whether a call in a record is one of an MCP server's tool, which may have any name: Codex writes the
// server beside the name, Gemini CLI into the name that it shows.
func isForeign(raw []byte) bool {
	foreign := false
	eachField(gjson.GetBytes(raw, "import.rest"), func(key string, v gjson.Result) {
		foreign = foreign || key == "namespace" && v.String() != "" || key == "displayName" && strings.Contains(v.String(), "MCP Server")
	})
	return foreign
}

// eachField calls do for the fields of all objects in a value.
func eachField(v gjson.Result, do func(key string, v gjson.Result)) {
	v.ForEach(func(key, v gjson.Result) bool {
		if v.IsObject() || v.IsArray() {
			eachField(v, do)
		} else {
			do(key.Str, v)
		}
		return true
	})
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// questionTools are the tools with which programs ask their user, by the format of their transcripts, and how each writes
// down the answers.
var questionTools = map[string]struct {
	tool string
	read func(asked []gjson.Result, text string) []string
}{
	"claude-code": {"AskUserQuestion", quotedAnswers},
	"opencode":    {"question", quotedAnswers},
	"codex":       {"request_user_input", listedAnswers},
	"gemini":      {"ask_user", listedAnswers},
}

// asksUser reports whether a tool of exactly this name is the question tool of the program whose transcripts have a
// format; "" for any of them. A tool of an MCP server never is, whatever the server calls it.
func asksUser(format, tool string) bool {
	for f, q := range questionTools {
		if q.tool == tool && (format == "" || format == f) {
			return true
		}
	}
	return false
}

// userAnswers returns what the user answered to a call of the question tool of a format, in the order of the questions.
// Declined, cancelled and secret questions have no reply.
func userAnswers(format, arguments, text string) (out []derived.UserAnswer) {
	asked := gjson.Get(arguments, "questions").Array()
	if questionTools[format].read == nil || len(asked) == 0 {
		return nil
	}
	answers := questionTools[format].read(asked, strings.TrimSpace(text))
	for i, answer := range answers {
		q := asked[i]
		if answer = oneLine(answer); answer == "" || answer == "Unanswered" || q.Get("isSecret").Bool() {
			continue
		}
		r := derived.UserAnswer{Question: oneLine(q.Get("question").Str), Answer: answer}
		for _, o := range q.Get("options").Array() {
			if label := oneLine(o.Get("label").Str); label != "" && !strings.Contains(answer, label) {
				r.Passed = append(r.Passed, label)
			}
		}
		out = append(out, r)
	}
	return out
}

const (
	answeredBegin = "User has answered your questions: "
	answeredEnd   = ". You can now continue"
)

// quotedAnswers reads `User has answered your questions: "Which tier?"="Free tier", …`. An answer goes as far as the next
// question that was asked, so that quotation marks in it do no harm.
func quotedAnswers(asked []gjson.Result, text string) []string {
	text, ok := strings.CutPrefix(text, answeredBegin)
	if end := strings.LastIndex(text, answeredEnd); ok && end >= 0 {
		text = text[:end]
	} else {
		return nil
	}
	type mark struct{ of, from, to int }
	var marks []mark
	for i, q := range asked {
		sign := `"` + q.Get("question").Str + `"=`
		if at := strings.Index(text, sign); at == 0 || at > 1 && text[at-2:at] == ", " {
			marks = append(marks, mark{i, at, at + len(sign)})
		}
	}
	slices.SortFunc(marks, func(a, b mark) int { return cmp.Compare(a.from, b.from) })
	out := make([]string, len(asked))
	for k, m := range marks {
		end := len(text)
		if k+1 < len(marks) {
			end = max(m.to, marks[k+1].from-len(", "))
		}
		out[m.of] = unquoted(text[m.to:end])
	}
	return out
}

// unquoted returns an answer without its quotation marks: `"Free tier" user notes: no card` is "Free tier (no card)".
func unquoted(s string) string {
	said, note := s, ""
	for _, sign := range []string{" user notes: ", " notes: "} {
		if before, after, ok := strings.Cut(s, sign); ok {
			said, note = before, after
			break
		}
	}
	said, _, _ = strings.Cut(said, "\" selected preview:")
	if said = strings.Trim(said, "\""); said == "(no option selected)" {
		said = ""
	}
	if said != "" && note != "" {
		return said + " (" + note + ")"
	}
	return said + note
}

// listedAnswers reads `{"answers":{"tier":{"answers":["Free tier","user_note: no card"]}}}`, where a question has an id,
// and `{"answers":{"0":"Free tier"}}`, where it has a place.
func listedAnswers(asked []gjson.Result, text string) []string {
	if !gjson.Valid(text) {
		return nil
	}
	answers := gjson.Get(text, "answers").Map()
	out := make([]string, len(asked))
	for i, q := range asked {
		if id := q.Get("id").Str; id != "" {
			var parts []string
			for _, a := range answers[id].Get("answers").Array() {
				parts = append(parts, strings.TrimPrefix(a.Str, "user_note: "))
			}
			out[i] = strings.Join(parts, ", ")
			continue
		}
		out[i] = answers[strconv.Itoa(i)].Str
	}
	return out
}
