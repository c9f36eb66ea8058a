package nats

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// said is a server that takes all messages. What answer returns for the n-th one is its answer, of none there is
// none; what begins with "-ERR" is an error that it reports.
func said(t *testing.T, answer func(n int, subject string) string) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var n atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			go talk(c, func(subject string) string { return answer(int(n.Add(1)), subject) })
		}
	}()
	return "nats://" + l.Addr().String()
}

// talk is one connection of said.
func talk(c net.Conn, answer func(subject string) string) {
	fmt.Fprint(c, `INFO {"server_id":"x","version":"2.15.2","proto":1,"headers":true,"max_payload":1048576}`+"\r\n")
	inbox := "1"
	for r := bufio.NewReader(c); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		switch f := strings.Fields(line); f[0] {
		case "PING":
			fmt.Fprint(c, "PONG\r\n")
		case "SUB":
			inbox = f[len(f)-1]
		case "PUB", "HPUB":
			size, _ := strconv.Atoi(f[len(f)-1])
			io.CopyN(io.Discard, r, int64(size)+2)
			switch a := answer(f[1]); {
			case strings.HasPrefix(a, "-ERR"):
				fmt.Fprintf(c, "%s\r\n", a)
			case a != "":
				fmt.Fprintf(c, "MSG %s %s %d\r\n%s\r\n", f[2], inbox, len(a), a)
			}
		}
	}
}

// engineTo returns an engine with links to two servers.
func engineTo(t *testing.T, timeout time.Duration, urls ...string) *Engine {
	t.Helper()
	e := &Engine{opts: Options{Timeout: timeout}, ctx: t.Context()}
	for i, url := range urls {
		c, err := client.Connect(url, client.ErrorHandler(func(_ *client.Conn, s *client.Subscription, err error) { e.note(s, err) }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		e.links.conns[i] = c
	}
	return e
}

// failure is the answer with an error.
func failure(class, code int, text string) string {
	return fmt.Sprintf(`{"stream":"S","error":{"code":%d,"err_code":%d,"description":%q}}`, class, code, text)
}

// An entry was refused whose first attempt a server had taken.
func TestAnAnswerToOneAttemptSettlesNoOther(t *testing.T) {
	e, x := &Engine{}, engine.Entry{ID: "entry"}
	for _, got := range []apiError{{503, codeNoResources, "full"}, {400, codeAccountFull, "full"}, {400, codeTooLarge, "large"}, {404, codeNoStream, "no stream"},
		{400, codeOtherStream, "another stream"}, {503, codeStoreFailed, "maximum bytes exceeded"}, {503, codeStoreFailed, "store is closed"},
		{400, codeBusy, "busy"}, {409, codeDuplicate, "under way"}, {500, 10100, "what nobody knows"}} {
		_, err := e.outcome(t.Context(), place{"S", "s"}, 3, x, ack{Error: &got}, true)
		if engine.Settled(err) || !errors.Is(err, engine.ErrUnknown) {
			t.Errorf("%s, while another attempt may be stored: %v", got.Description, err)
		}
	}
	if _, err := e.outcome(t.Context(), place{"S", "s"}, 3, x, ack{Error: &apiError{404, codeNoStream, "no stream"}}, false); !errors.Is(err, engine.ErrGone) {
		t.Errorf("the only attempt found no stream: %v", err)
	}
}

// Rights that change between two attempts say nothing of the first one.
func TestARefusalOfALaterAttemptIsNoneOfTheFirst(t *testing.T) {
	takes := said(t, func(int, string) string { return "" })
	denies := func(_ int, subject string) string {
		return fmt.Sprintf("-ERR 'Permissions Violation for Publish to %q'", subject)
	}
	all := func(*client.Msg, bool) verdict { return final }
	err := engineTo(t, 3*time.Second, takes, said(t, denies)).exchange(t.Context(), "journal", nil, nil, all)
	if engine.Settled(err) {
		t.Errorf("a server has the first attempt: %v", err)
	}
	err = engineTo(t, time.Minute, said(t, denies), said(t, denies)).exchange(t.Context(), "journal", nil, nil, all)
	if !errors.Is(err, engine.ErrDenied) {
		t.Errorf("both servers refuse: %v", err)
	}
}

// A leader that has lost count refuses an entry that the others have stored.
func TestALeaderThatLostCountLeavesItUnknown(t *testing.T) {
	answer := func(n int, subject string) string {
		switch {
		case strings.HasPrefix(subject, "$JS"):
			return ""
		case n == 1:
			return failure(503, codeSequence, "expected stream sequence does not match")
		}
		return failure(400, codeConflict, "wrong last sequence: 4")
	}
	url := said(t, answer)
	_, err := engineTo(t, 3*time.Second, url, url).store(t.Context(), place{"S", "s"}, 3, engine.Entry{ID: "entry"})
	if engine.Settled(err) {
		t.Errorf("what the others have stored counts as refused: %v", err)
	}
}

// A link that is made anew ends requests that were sent: that error was taken for one of a message that was
// never sent, so that a write counted as refused that a server may have stored.
func TestARequestWhoseLinkBreaksMayBeStored(t *testing.T) {
	taken := make(chan bool, 1)
	url := said(t, func(int, string) string { taken <- true; return "" })
	c, err := client.Connect(url, client.MaxReconnects(-1), client.ReconnectWait(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		if <-taken {
			c.ForceReconnect()
		}
	}()
	_, err = c.RequestMsgWithContext(ctx, &client.Msg{Subject: "journal", Data: []byte("entry")})
	if !errors.Is(err, client.ErrDisconnected) {
		t.Fatalf("the client returned %v", err)
	}
	if notSent(err) {
		t.Errorf("a message that a server has taken counts as one that was not sent: %v", err)
	}
}
