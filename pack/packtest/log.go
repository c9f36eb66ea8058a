package packtest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/session/log"
)

// Log is a log in memory that counts what is read of it, for tests of the compiler alone.
type Log struct {
	*log.MemLog
	Reads int // of records
}

func NewLog() *Log { return &Log{MemLog: &log.MemLog{}} }

// Record returns the record at line, from 1; it returns no error.
func (l *Log) Record(line int) ([]byte, error) {
	l.Reads++
	return l.MemLog.Record(line)
}

// Prefix is the log with its first n records.
func (l *Log) Prefix(n int) *Log { return &Log{MemLog: l.MemLog.Prefix(n)} }

// Records are the bytes of all of them.
func (l *Log) Records() (out [][]byte) {
	for line := range l.Len() {
		raw, _ := l.MemLog.Record(line + 1)
		out = append(out, raw)
	}
	return out
}

func LogOf(records ...string) *Log {
	l := NewLog()
	for _, r := range records {
		l.Append([]byte(r))
	}
	return l
}

func Message(role, content string) []byte {
	b, err := json.Marshal(map[string]string{"role": role, "content": content})
	if err != nil {
		panic(err)
	}
	return b
}

func QuoteJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// LongLog is a session of user requests with a few turns of calls each.
func LongLog(n int) *Log {
	l := LogOf(`{"role":"system","content":"Answer briefly."}`)
	for i := 0; l.Len() < n; i++ {
		switch i % 7 {
		case 0:
			l.Append(Message("user", "Please look at module "+strings.Repeat("m", i%9+1)+" and repair what is broken in it."))
		case 6:
			l.Append(Message("assistant", "Done: "+strings.Repeat("the module works again. ", 5)))
		case 1, 3, 5:
			l.Append([]byte(`{"role":"assistant","content":"Reading on.","tool_calls":[{"id":"c` + strings.Repeat("i", i) + `","name":"read_file","arguments":"{\"path\":\"a.go\"}"}]}`))
		default:
			rows := strings.Repeat("ok  \tgithub.com/example/module\t0.01s\n", i%5*4+3)
			l.Append([]byte(`{"role":"tool","tool_call_id":"c` + strings.Repeat("i", i-1) + `","content":` + QuoteJSON(rows) + `}`))
		}
	}
	return l
}

// CodingLog is a session of n steps of an agent that reads, edits and tests files.
func CodingLog(n int) *Log {
	l := NewLog()
	l.Append(Message("user", "Make the token refresh retry. Never touch the ledger."))
	for i := range n {
		file := fmt.Sprintf("auth/refresh_%d.go", i%17)
		if i%40 == 39 {
			l.Append(Message("assistant", fmt.Sprintf("Step %d is done: the root cause is in %s.", i, file)))
			l.Append(Message("user", fmt.Sprintf("Now make limit%d configurable. And keep it small.", i)))
		}
		l.Append([]byte(fmt.Sprintf(`{"role":"assistant","content":"I will look at %s.","tool_calls":[{"id":"c%d","function":{"name":"run_tests","arguments":"{\"path\":\"%s\"}"}}]}`, file, i, file)))
		var out strings.Builder
		for k := range 12 {
			fmt.Fprintf(&out, "%s:%d: func (c *Client) refresh%d_%d(ctx context.Context) error\n", file, k*3+i, i%29, k)
		}
		fmt.Fprintf(&out, "%d passed, 1 failed: TestRefresh%d\n", 200+i, i)
		l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%q}`, i, out.String())))
	}
	return l
}

// Weighing returns a text of about n tokens.
func Weighing(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }

// Document returns one of a few contents as they repeat: a file, a test run and a response, each with one of eight edits.
func Document(n int) string {
	of, edit := n%3, n/3
	var b strings.Builder
	for i := range 60 {
		switch {
		case of == 2:
		case i == 7*edit:
			fmt.Fprintf(&b, "an edit of it: number %d, ``` and more\n", edit)
		case of == 0:
			fmt.Fprintf(&b, "\tif err := l.post(%d, \"account-%d\"); err != nil { // R-%d\n", i, i*37, i)
		default:
			fmt.Fprintf(&b, "ok  \tgithub.com/example/shop/pkg%d\t%d.%03ds\n", i, edit, i*edit)
		}
	}
	if of < 2 {
		return b.String()
	}
	var rows []map[string]any
	for i := range 20 {
		rows = append(rows, map[string]any{"id": fmt.Sprint("ord_", i+edit), "status": "paid", "total": 1000 + i + edit, "email": fmt.Sprintf("c%d@example.com", i+edit)})
	}
	data, err := json.Marshal(map[string]any{"page": edit, "data": rows})
	if err != nil {
		panic(err)
	}
	return string(data)
}

// Parts is a tool's output of so many lines that no other one has.
func Parts(name string, lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%s_%d is in module %s/%d.go and weighs %d grams\n", name, i, name, i*7, i*i)
	}
	return b.String()
}

// Called appends calls of a tool with their results.
func Called(l *Log, from, n, lines int) {
	for i := from; i < from+n; i++ {
		l.Append([]byte(fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"c%d","name":"probe","arguments":"{}"}]}`, i)))
		l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%q}`, i, Parts(fmt.Sprintf("part%d", i), lines))))
	}
}

// Answered appends a call of a tool and its result.
func Answered(l *Log, id, tool, arguments, output string) {
	l.Append(fmt.Appendf(nil, `{"role":"assistant","content":"","tool_calls":[{"id":%[1]s,"type":"function","function":{"name":%[2]s,"arguments":%[3]s}}]}`,
		QuoteJSON(id), QuoteJSON(tool), QuoteJSON(arguments)))
	l.Append(fmt.Appendf(nil, `{"role":"tool","tool_call_id":%s,"content":%s}`, QuoteJSON(id), QuoteJSON(output)))
}

// NotedLog is a session of n steps in which something is said now and then that stays true.
func NotedLog(n int) *Log {
	l := NewLog()
	asks := strings.Repeat("Could you please look at this step again with me?\n", 60) // so that the words of the user that stay are others
	for i, j := 1, 0; i <= n; i++ {
		for c := CodingLog(i); j < c.Len(); j++ {
			raw, err := c.Record(j + 1)
			if err != nil {
				panic(err)
			}
			l.Append(raw)
		}
		if i%20 == 7 {
			l.Append(Message("user", fmt.Sprintf("Thank you for step %d, that looks good to me.\n%sThe host of team%dx is stage-%d.example.com.", i, asks, i, i)))
			l.Append(Message("assistant", "I will not."))
		}
	}
	return l
}

// LongNoted is a log of n messages, of which every hundredth says something that stays true.
func LongNoted(n int) *Log {
	l := NewLog()
	for i := 1; i <= n; i++ {
		text := strings.Repeat(fmt.Sprintf("reading part %d of it ", i), 20)
		if i%100 == 0 {
			text = fmt.Sprintf("The host of team%[1]dx is stage-%[1]d.example.com.", i)
		}
		l.Append(Message("user", text))
	}
	return l
}
