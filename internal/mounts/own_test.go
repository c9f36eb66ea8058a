package mounts

import (
	"slices"
	"testing"
)

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

func TestTheCallersOwnMountsComeFirst(t *testing.T) {
	all := []Info{{Point: "/root", User: "0"}, {Point: "/mine", User: "1000"}, {Point: "/other", User: "1001"}, {Point: "/root2", User: "0"}, {Point: "/mine2", User: "1000"}}
	var points []string
	for _, i := range ownOf(all, 1000, "         0          0 4294967295\n") {
		points = append(points, i.Point)
	}
	if want := []string{"/mine", "/mine2", "/root", "/root2"}; !slices.Equal(points, want) {
		t.Errorf("got %q, want %q", points, want)
	}
	if len(all) != 5 || all[2].Point != "/other" {
		t.Error("the list that was given is changed")
	}
}
