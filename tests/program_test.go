package tests

import (
	"strings"
	"testing"
)

// The server of a cluster is a program of its own: ctxfs has the client alone.
func TestTheProgramHasNoServer(t *testing.T) {
	client := false
	for _, d := range deps(t, "cmd/ctxfs") {
		client = client || d == "github.com/nats-io/nats.go"
		if strings.HasPrefix(d, "github.com/nats-io/nats-server") || d == module+"/cluster/embed" {
			t.Errorf("cmd/ctxfs depends on %s", d)
		}
	}
	if !client {
		t.Error("cmd/ctxfs has no client, so that this test finds nothing")
	}
}
