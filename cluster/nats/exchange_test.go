package nats

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
)

// A link that is made anew ends requests that were sent: that error was taken for one of a message that was
// never sent, so that a write counted as refused that a server may have stored.
func TestARequestWhoseLinkBreaksMayBeStored(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := make(chan bool, 1)
	go func() { // a server that takes messages and answers none
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		fmt.Fprint(c, `INFO {"server_id":"x","version":"2.15.2","proto":1,"headers":true,"max_payload":1048576}`+"\r\n")
		for lines := bufio.NewScanner(c); lines.Scan(); {
			switch line := lines.Text(); {
			case strings.HasPrefix(line, "PING"):
				fmt.Fprint(c, "PONG\r\n")
			case strings.HasPrefix(line, "PUB "):
				taken <- true // and nothing is answered
			}
		}
	}()
	c, err := client.Connect("nats://"+l.Addr().String(), client.MaxReconnects(-1), client.ReconnectWait(10*time.Millisecond))
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
