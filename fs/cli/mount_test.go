package cli

import (
	"slices"
	"testing"
)

// The background daemon gets its flags through args; a flag that is missing there is lost.
func TestDaemonGetsEveryFlag(t *testing.T) {
	f := mountFlags{
		store: "/s", budget: 7, encoding: "cl100k_base", maps: []string{"/a=/b"}, log: "/l", logLevel: "debug",
		fuseDebug: true, deadline: 5, mountpoint: "/m",
	}
	c := mountCmd()
	if err := c.ParseFlags(f.args()[1:]); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"store": "/s", "budget": "7", "encoding": "cl100k_base", "map": "[/a=/b]", "log": "/l", "log-level": "debug",
		"debug-fuse": "true", "shutdown-timeout": "5ns", "foreground": "true",
	} {
		if got := c.Flags().Lookup(name).Value.String(); got != want {
			t.Errorf("--%s is %q, want %q", name, got, want)
		}
	}
	if got := c.Flags().Args(); !slices.Equal(got, []string{"/m"}) {
		t.Errorf("arguments are %q", got)
	}
}
