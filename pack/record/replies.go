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

// replies returns the user's answers from the results in a message, if the agent called a program's
// own question tool. Both records must come from that program's transcript, or both from no
// transcript, as programs write them that append to messages.jsonl themselves. It returns
// ctxabi.ErrIO if it cannot read the call.
func replies(log Records, e ctxabi.Entry, raw []byte, answers []derived.Answer) (out []derived.UserAnswer, err error) {
	var format string
	var call *ctxabi.Message
	for _, a := range answers {
		if e.CallOf == 0 || a.Failed || call == nil && questionTool("", a.Tool) == nil {
			continue
		}
		if call == nil {
			record, err := log.Record(int(e.CallOf))
			if err != nil {
				return nil, Unreadable(Address{Line: int(e.CallOf)}, err)
			}
			m := ctxabi.DecodeMessage(record)
			call, format = &m, importedFrom(raw)
			if importedFrom(record) != format || m.Role != ctxabi.Assistant || isForeign(record) {
				return nil, nil
			}
		}

		calls := Answers{int(e.CallOf), call.Calls}
		if q := questionTool(cmp.Or(format, native), calls.Name(a.Call)); q != nil {
			out = append(out, q.userAnswers(calls.Arguments(a.Call), a.Text)...)
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

// native stands for the format of records that no transcript was imported from.
const native = "native"

// questionTools lists the tools with which programs ask their user. MCP servers call their tools
// ask_user, too, so that this name alone shows nothing.
var questionTools = []questionToolOf{
	{"AskUserQuestion", []string{"claude-code", native}, quotedAnswers},
	{"question", []string{"opencode", native}, quotedAnswers},
	{"request_user_input", []string{"codex", native}, listedAnswers},
	{"ask_user", []string{"gemini"}, listedAnswers},
}

// questionToolOf is a program's question tool. read returns the answer to each question from the
// text of a result.
type questionToolOf struct {
	name    string
	formats []string // of the records in which the name belongs to the program
	read    func(asked []gjson.Result, text string) []string
}

// questionTool returns the question tool of exactly this name in records of a format, or nil. The
// format "" stands for all formats.
func questionTool(format, name string) *questionToolOf {
	for i := range questionTools {
		q := &questionTools[i]
		if q.name == name && (format == "" || slices.Contains(q.formats, format)) {
			return q
		}
	}
	return nil
}

// userAnswers returns the user's answers from the result of a call, in the order of the questions.
// Declined, canceled, and secret questions have none.
func (q *questionToolOf) userAnswers(arguments, text string) (out []derived.UserAnswer) {
	asked := gjson.Get(arguments, "questions").Array()
	if len(asked) == 0 {
		return nil
	}
	for i, answer := range q.read(asked, strings.TrimSpace(text)) {
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
