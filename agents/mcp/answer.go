package mcp

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// text is an answer of a tool.
func text(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

// failed is a tool error: the model reads why.
func failed(err error) *sdk.CallToolResult {
	res := text(err.Error())
	res.IsError = true
	return res
}

// piece is a part of a file that fits an answer.
type piece struct {
	Text   string
	Offset int64 // of its first byte in the file
	Size   int64 // of the file
	Path   string
}

// next is the offset behind the piece.
func (p piece) next() int64 { return p.Offset + int64(len(p.Text)) }

// result is the piece as an answer, with how to read on where there is more.
// again is the path for the tool read.
func (p piece) result(again string) *sdk.CallToolResult {
	res := text(p.Text)
	if p.Text == "" {
		res.Content = nil // the offset is behind the end
	}
	if p.next() < p.Size || p.Offset > 0 {
		more := fmt.Sprintf("(Bytes %d to %d of %d of %s.", p.Offset, p.next(), p.Size, p.Path)
		if p.next() < p.Size {
			more += fmt.Sprintf(" Read on: read {\"path\":%q,\"offset\":%d}", again, p.next())
		}
		res.Content = append(res.Content, &sdk.TextContent{Text: more + ")"})
	}
	return res
}

// cut shortens a text to at most n bytes, at the end of a line where that
// leaves half of it, else between characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n]
	if i := strings.LastIndexByte(s, '\n'); i >= n/2 {
		return s[:i+1]
	}
	for i := 0; i < utf8.UTFMax && len(s) > 1; i++ {
		if r, size := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || size != 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return s
}

// await runs what may block in the mount, and gives up on it when the client
// does. A read that nobody waits for ends by itself.
func await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := do()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
