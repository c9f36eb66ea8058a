package cli

import (
	"errors"
	"testing"

	"github.com/ctxfs/ctxfs/internal/usage"
)

func TestParseMoment(t *testing.T) {
	for arg, want := range map[string]Moment{
		"coder/s1": {"coder/s1", ""}, "coder/s1@120": {"coder/s1", "120"}, ".@0": {".", "0"},
		"/ctx/home/a@b/x": {"/ctx/home/a@b/x", ""}, "/ctx/a@b/x@7": {"/ctx/a@b/x", "7"},
		"coder/s1@2026-05-04T10:00:00Z": {"coder/s1", "2026-05-04T10:00:00Z"}, "x/y@sha256-00": {"x/y", "sha256-00"},
	} {
		if got, err := ParseMoment(arg); err != nil || got != want {
			t.Errorf("%s: %+v, %v", arg, got, err)
		}
	}
	for _, arg := range []string{"@3", "coder/s1@", "coder/s1@noon", "coder/s1@2026-05-04", "coder/s1@1.5"} {
		if got, err := ParseMoment(arg); !errors.As(err, new(usage.Error)) {
			t.Errorf("%s: %+v, %v", arg, got, err)
		}
	}
}
