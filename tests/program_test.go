package tests

import (
	"strings"
	"testing"
)

// The cluster server is a separate program: cmd/ctxfs links only the NATS client.
func TestBinaryLinksNoServer(t *testing.T) {
	client := false
	for _, d := range deps(t, "cmd/ctxfs") {
		client = client || d == "github.com/nats-io/nats.go"
		if strings.HasPrefix(d, "github.com/nats-io/nats-server") || d == module+"/cluster/embed" {
			t.Errorf("cmd/ctxfs depends on %s", d)
		}
	}
	if !client {
		t.Error("cmd/ctxfs does not depend on nats.go; this test checks nothing")
	}
}
