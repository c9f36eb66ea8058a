package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience is how long calls that are under way may take to be answered once
// the client has closed its end: a pack that waits for its generators, on a
// machine that is busy. A client that does not want to wait ends the process.
const patience = time.Minute

// drained is a transport that tells the SDK of the end of its input only when
// what was asked before it is answered. The SDK drops what is under way, so that
// printf '...' | ctxfs mcp would get no answer.
type drained struct{ sdk.Transport }

func (t drained) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainedConn{Connection: c, answered: make(chan struct{}, 1), closed: make(chan struct{})}, nil
}

type drainedConn struct {
	sdk.Connection
	answered chan struct{} // holds a token after an answer
	closed   chan struct{}
	once     sync.Once

	mu      sync.Mutex
	pending int // guarded by mu: calls without an answer
}

func (c *drainedConn) count(n int) (pending int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending += n
	return c.pending
}

func (c *drainedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if call, ok := msg.(*jsonrpc.Request); ok && err == nil && call.IsCall() {
		c.count(1)
	}
	if err != nil { // the end, or half a message at the end
		late := time.NewTimer(patience)
		defer late.Stop()
		for c.count(0) > 0 {
			select {
			case <-c.answered:
				continue
			case <-late.C:
			case <-ctx.Done():
			case <-c.closed:
			}
			break
		}
	}
	return msg, err
}

func (c *drainedConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if _, ok := msg.(*jsonrpc.Response); ok {
		c.count(-1)
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err
}

func (c *drainedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
