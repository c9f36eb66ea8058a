package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// frames are the two ends of a client, one message a line. It answers lines that
// are no messages, as section 5.1 of JSON-RPC 2.0 asks, and hands on the others:
// to the SDK the first line that it cannot read is the end of the session.
type frames struct {
	in   io.Closer
	r    *bufio.Reader
	rest []byte // of the message that is being handed on
	list bool   // the client has asked for a version of the protocol that has lists of messages

	mu  sync.Mutex     // held for a whole message
	out io.WriteCloser // guarded by mu

	once   sync.Once
	failed error // of closing them
}

func newFrames(in io.ReadCloser, out io.WriteCloser) *frames {
	return &frames{in: in, r: bufio.NewReaderSize(in, 64<<10), out: out}
}

// Read returns messages, each with its newline, and never more than one at a time.
func (f *frames) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		line, size, err := f.line()
		if err != nil && (err != io.EOF || size == 0) {
			return 0, err
		}
		switch {
		case size > maxRequest:
			err = f.refuse(jsonrpc.CodeInvalidRequest, nil, fmt.Sprintf("the message has %d bytes, the limit is %d", size, maxRequest))
		case len(line) == 0:
			continue
		case !json.Valid(line):
			err = f.refuse(jsonrpc.CodeParseError, nil, fmt.Sprintf("a message is one JSON object on one line, this begins with %.40q", line))
		case line[0] == '{':
			if message, wrong := jsonrpc.DecodeMessage(line); wrong == nil {
				f.hear(message)
				f.rest = append(line, '\n')
				continue
			}
			err = f.refuse(jsonrpc.CodeInvalidRequest, line, `a message has "jsonrpc":"2.0" and a method, or an id and a result`)
		case line[0] == '[':
			why := f.checkList(line)
			if why == "" {
				f.rest = append(line, '\n')
				continue
			}
			err = f.refuse(jsonrpc.CodeInvalidRequest, nil, why)
		default:
			err = f.refuse(jsonrpc.CodeInvalidRequest, nil, "a message is a JSON object")
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// hear notes which version of the protocol the client asks for.
func (f *frames) hear(message jsonrpc.Message) {
	var asked struct {
		Version string `json:"protocolVersion"`
	}
	if r, ok := message.(*jsonrpc.Request); ok && r.Method == "initialize" && json.Unmarshal(r.Params, &asked) == nil {
		f.list = asked.Version == "2024-11-05" || asked.Version == "2025-03-26"
	}
}

// checkList returns why a line is no list of messages that the SDK takes, or "".
func (f *frames) checkList(line []byte) string {
	var list []json.RawMessage
	if err := json.Unmarshal(line, &list); err != nil || len(list) == 0 {
		return "a list of messages must not be empty"
	}
	if !f.list {
		return "this version of the protocol has no lists of messages; send each on a line of its own"
	}
	asked := map[any]bool{}
	for i, one := range list {
		message, err := jsonrpc.DecodeMessage(one)
		if err != nil {
			return fmt.Sprintf("item %d of the list is not a message", i+1)
		}
		if r, ok := message.(*jsonrpc.Request); ok {
			if asked[r.ID.Raw()] {
				return fmt.Sprintf("message %d of the list has the id of another, or is the second without an id; send it on a line of its own", i+1)
			}
			asked[r.ID.Raw()] = true
		}
	}
	return ""
}

// line reads a line and gives it without the blanks around it, and its size in bytes; of one that is too large
// the size alone. At the end the line may have no newline.
func (f *frames) line() (line []byte, size int, err error) {
	for {
		piece, err := f.r.ReadSlice('\n')
		if size += len(piece); size <= maxRequest {
			line = append(line, piece...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), size, err
		}
	}
}

// refuse answers what is no message, with its id where it has one.
func (f *frames) refuse(code int, message []byte, why string) error {
	var asked struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(message, &asked) != nil || len(asked.ID) == 0 || asked.ID[0] == '{' || asked.ID[0] == '[' {
		asked.ID = json.RawMessage("null")
	}
	type problem struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	answer, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   problem         `json:"error"`
	}{"2.0", asked.ID, problem{code, why}})
	if err == nil {
		_, err = f.Write(append(answer, '\n'))
	}
	return err
}

// Write writes a whole message with its newline.
func (f *frames) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Write(p)
}

// Close closes both ends. The SDK, which has them as two, calls it twice.
func (f *frames) Close() error {
	f.once.Do(func() { f.failed = errors.Join(f.in.Close(), f.out.Close()) })
	return f.failed
}
