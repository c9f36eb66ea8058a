package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// appendSchema is what the tool append takes. It names what a record may hold,
// and leaves the judgement to the files: they keep what a model adds beside it.
var appendSchema = json.RawMessage(`{
  "type": "object",
  "properties": {
    "messages": {
      "type": "array",
      "description": "Messages, the oldest first, as they were said. They are kept for good, byte for byte; nothing can change or remove them.",
      "items": {
        "type": "object",
        "properties": {
          "type": {"type": "string", "description": "Of an item of OpenAI's Responses, which has this instead of a role: reasoning, function_call, function_call_output and others."},
          "role": {"type": "string", "enum": ["system", "developer", "user", "assistant", "tool"]},
          "content": {"description": "A text, or a list of parts as OpenAI or Anthropic write them. May be left out beside tool_calls."},
          "tool_calls": {"type": "array", "description": "Calls an assistant made: {\"id\",\"name\",\"arguments\"}, or OpenAI's nested form."},
          "tool_call_id": {"type": "string", "description": "Of a tool's result: the id of the call it answers."},
          "name": {"type": "string", "description": "Of the tool, or of who speaks."}
        }
      }
    },
    "events": {
      "type": "array",
      "description": "What else happened: usage, errors, changes of state. tool_call and tool_result events are shown in prompts, others are not.",
      "items": {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"type": "string", "minLength": 1}}
      }
    }
  },
  "additionalProperties": false
}`)

// appended is what append answers. Hosts show a model the structure or the text, so that each says all.
type appended struct {
	Appended string `json:"appended"`           // as the text names them
	Messages []int  `json:"messages,omitempty"` // line numbers, from 1
	Events   []int  `json:"events,omitempty"`
}

func (a appended) String() string {
	var parts []string
	for _, p := range []struct {
		log   string
		lines []int
	}{{"messages", a.Messages}, {"events", a.Events}} {
		if n := len(p.lines); n > 0 {
			parts = append(parts, p.log+":"+ranges(p.lines))
		}
	}
	return strings.Join(parts, " ")
}

// ranges writes ascending numbers as 3-5,9.
func ranges(n []int) string {
	var parts []string
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		s := strconv.Itoa(n[i])
		if j > i {
			s += "-" + strconv.Itoa(n[j])
		}
		parts = append(parts, s)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// appendRecords is the tool append. It reads its arguments as they came: keys
// keep their order, numbers their digits.
func (s *server) appendRecords(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var args struct {
		Messages records `json:"messages"`
		Events   records `json:"events"`
	}
	d := json.NewDecoder(bytes.NewReader(req.Params.Arguments))
	d.DisallowUnknownFields()
	if err := d.Decode(&args); err != nil {
		return failed(fmt.Errorf("the arguments are {\"messages\":[...]} or {\"events\":[...]}, or both: %w", err)), nil
	}
	if len(args.Messages)+len(args.Events) == 0 {
		return failed(errors.New("there is nothing to append; pass messages, events, or both")), nil
	}
	x, err := s.session(req.ClientInfo())
	if err != nil {
		return failed(err), nil
	}
	done, err := await(ctx, func() (a appended, err error) {
		if a.Messages, err = x.append(ctxabi.MessagesFile, args.Messages); err != nil {
			return a, refusedAt("messages", args.Messages, a.Messages, err)
		}
		if a.Events, err = x.append(ctxabi.EventsFile, args.Events); err != nil {
			return a, refusedAt("events", args.Events, a.Events, err)
		}
		return a, nil
	})
	if err != nil {
		if kept := done.String(); kept != "" {
			err = fmt.Errorf("%w. The records before it were appended: %s", err, kept)
		}
		return failed(err), nil
	}
	done.Appended = done.String()
	res := text("appended " + done.Appended)
	res.StructuredContent = done
	return res, nil
}

func refusedAt(log string, all records, taken []int, err error) error {
	return fmt.Errorf("%s[%d] was refused: %w", log, min(len(taken), len(all)-1), err)
}

// records are JSON objects, one or a list of them, each on one line.
type records [][]byte

func (r *records) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil && json.Valid([]byte(text)) { // or write the list into a string
		data = []byte(text)
	}
	var list []json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) { // models leave the list out now and then
		list = []json.RawMessage{data}
	} else if json.Unmarshal(data, &list) != nil {
		return fmt.Errorf("a list of records is needed, this begins with %.40q", data)
	}
	for _, raw := range list {
		var line bytes.Buffer
		if err := json.Compact(&line, raw); err != nil { // takes out the newlines between values, none is in a string
			return err
		}
		*r = append(*r, line.Bytes())
	}
	return nil
}

// append adds records to a log in one write and says under which numbers they
// are kept: of all, or of those that were taken before one was refused.
func (x *session) append(log string, add records) (numbers []int, err error) {
	if len(add) == 0 {
		return nil, nil
	}
	f, err := os.OpenFile(x.path(log), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	start, lines, err := position(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	since := time.Now()
	_, err = f.Write(append(bytes.Join(add, []byte("\n")), '\n'))
	if end := f.Close(); err == nil {
		err = end
	}
	if err != nil {
		err = x.reason(log, since, err)
	}
	numbers, findErr := find(x.path(log), start, lines, add)
	if err == nil && findErr == nil && len(numbers) < len(add) {
		findErr = fmt.Errorf("%s was appended to, but the lines are not found there", log)
	}
	return numbers, errors.Join(err, findErr)
}

// position returns a moment of a log: how long it is, and how many lines that are.
func position(f *os.File) (size int64, lines int, err error) {
	for {
		fi, err := f.Stat()
		if err != nil {
			return 0, 0, err
		}
		var b [32]byte
		n, err := unix.Fgetxattr(int(f.Fd()), "user.ctx.lines", b[:])
		if err != nil {
			return 0, 0, fmt.Errorf("%s is not a log of ctxfs: %w", f.Name(), err)
		}
		if lines, err = strconv.Atoi(string(b[:n])); err != nil {
			return 0, 0, err
		}
		after, err := f.Stat()
		if err != nil {
			return 0, 0, err
		}
		if after.Size() == fi.Size() { // nobody appended in between
			return fi.Size(), lines, nil
		}
	}
}

// find looks for records behind a position, in their order: others may have
// appended in front of them, and between them where the kernel had split the write.
func find(name string, start int64, lines int, add records) (numbers []int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, start, 1<<62-start))
	if err != nil {
		return nil, err
	}
	for n := lines + 1; len(numbers) < len(add); n++ {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			break
		}
		data = rest
		if bytes.Equal(line, add[len(numbers)]) {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}
