package mcp

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastCall is a client that asks one thing and closes its end.
type lastCall struct {
	sdk.Connection
	asked bool
}

func (c *lastCall) Read(context.Context) (jsonrpc.Message, error) {
	if c.asked {
		return nil, io.EOF
	}
	c.asked = true
	id, err := jsonrpc.MakeID("1")
	return &jsonrpc.Request{ID: id, Method: "ping"}, err
}

func (c *lastCall) Write(context.Context, jsonrpc.Message) error { return nil }

// What was asked before the client closed its end is answered before the end is told, though it takes its time, but not for ever.
func TestTheEndWaitsForTheAnswers(t *testing.T) {
	for takes, waits := range map[time.Duration]time.Duration{0: 0, 40 * time.Second: 40 * time.Second, time.Hour: patience} {
		synctest.Test(t, func(t *testing.T) {
			c := &drainedConn{Connection: &lastCall{}, answered: make(chan struct{}, 1), closed: make(chan struct{})}
			if _, err := c.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			go func() {
				time.Sleep(takes)
				c.Write(t.Context(), &jsonrpc.Response{})
			}()
			begin := time.Now()
			if _, err := c.Read(t.Context()); err != io.EOF {
				t.Error(err)
			}
			if d := time.Since(begin); d != waits {
				t.Errorf("an answer that takes %s is waited for %s", takes, d)
			}
			time.Sleep(takes)
		})
	}
}
