package mounts

import "testing"

func TestNobodyIsSentToTheMountOfAStranger(t *testing.T) {
	const machine, rootless = "         0          0 4294967295\n", "         0       1000          1\n         1     100000      65536\n"
	for _, c := range []struct {
		user   string
		uid    int
		uidMap string
		own    bool
	}{
		{"0", 1000, machine, true},
		{"1000", 1000, machine, true},
		{"1001", 1000, machine, false},
		{"1001", 0, machine, false},
		{"", 1000, machine, false},
		{"1000", 0, rootless, true},
		{"0", 0, rootless, true},
	} {
		if got := own(Info{User: c.user}, c.uid, c.uidMap); got != c.own {
			t.Errorf("mounted by %q, asked by %d: %t", c.user, c.uid, got)
		}
	}
}
