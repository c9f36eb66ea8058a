package harness

import (
	"slices"
	"strings"
	"testing"
)

const exampleTour = "Say\n```console\n$ cat <<END\n> one\n>\n> two\n> END\nstale\n$ echo /ctx; id -u\n```\nthen\n```\n$ not run\n```\n```console\n$ nonsense\n```\n````console\n$ printf '```\\nx\\n```'\n````\n"

func TestTourCommandsReadsContinuedLines(t *testing.T) {
	got := TourCommands(exampleTour)
	want := []string{"cat <<END\none\n\ntwo\nEND", "echo /ctx; id -u", "nonsense", "printf '```\\nx\\n```'"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTourPastesWhatARunPrints(t *testing.T) {
	m := fake(t, "")
	got := m.Tour(t, exampleTour, Client{UID: Self(), Dir: "/"})
	for _, want := range []string{
		"$ cat <<END\n> one\n>\n> two\n> END\none\n\ntwo\n$ echo /ctx; id -u\n/ctx\n",
		"```\n$ not run\n```\n",
		"$ nonsense\nbash: nonsense: command not found\n```\n",
		"```'\n```\nx\n```\n````\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if again := m.Tour(t, got, Client{UID: Self(), Dir: "/"}); again != got {
		t.Errorf("a second run pastes\n%s", again)
	}
}
