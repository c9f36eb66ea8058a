package cli

import (
	"io"
	"strings"
	"testing"
)

func TestRemoveWithoutTerminalSaysSo(t *testing.T) {
	err := confirm(strings.NewReader("y\n"), io.Discard, "Remove it?")
	if err == nil || err.Error() != "not removed: there is no terminal to confirm on; use --force" {
		t.Errorf("%v", err)
	}
}
