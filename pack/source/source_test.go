package source

import (
	"testing"

	"golang.org/x/sys/unix"
)

// In a shared space files of several users lie side by side; the daemon reads for one of them what he may read.
func TestWhatASpacesMemberMayRead(t *testing.T) {
	r := &spaceRules{uid: 1000, gid: 2000}
	for _, c := range []struct {
		mode, uid, gid uint32
		want           bool
	}{
		{0o600, 1000, 2000, true}, {0o060, 1000, 2000, false},
		{0o600, 1001, 2000, false}, {0o640, 1001, 2000, true}, {0o604, 1001, 2000, false},
		{0o640, 1001, 3000, false}, {0o644, 1001, 3000, true},
	} {
		if got := r.allows(Sign{mode: unix.S_IFREG | c.mode, UID: c.uid, GID: c.gid}, 0o4); got != c.want {
			t.Errorf("%o of %d:%d: %v", c.mode, c.uid, c.gid, got)
		}
	}
	if !(*spaceRules)(nil).allows(Sign{mode: 0}, 0o4) {
		t.Error("in a home all is its owner's")
	}
}

func TestFailuresOfEvents(t *testing.T) {
	for raw, want := range map[string]string{
		`{"type":"error","message":"it broke"}`: "it broke",
		`{"type":"error"}`:                      "error",
		`{"type":"tool_result","name":"go","is_error":true,"output":"a\n  b"}`:              "go: a b",
		`{"type":"tool_result","is_error":true,"content":[{"type":"text","text":"inner"}]}`: "inner",
		`{"type":"usage","error":{"message":"too many tokens","code":3}}`:                   "too many tokens",
		`{"type":"usage","error":{"code":3}}`:                                               `{"code":3}`,
		`{"type":"usage","error":null}`:                                                     "",
		`{"type":"usage","error":""}`:                                                       "",
		`{"type":"usage","error":false}`:                                                    "",
		`{"type":"tool_result","is_error":false,"output":"fine"}`:                           "",
	} {
		if got, ok := failureOf([]byte(raw)); got.text != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", raw, got.text, ok)
		}
	}
}
