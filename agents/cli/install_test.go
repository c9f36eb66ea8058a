package cli

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/install"
)

func TestMountCommandIsQuoted(t *testing.T) {
	got := afterBoot(install.Options{Home: t.TempDir(), Mount: "/home/me/m p"})
	if len(got) != 1 || !strings.Contains(got[0], "ctxfs mount '/home/me/m p'") {
		t.Errorf("%q", got)
	}
}
