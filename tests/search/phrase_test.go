package searchtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// A path is looked for as it is written, in double quotes, in every search directory and by any program.
func TestAPathInQuotes(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s)
	s.Append(ctxabi.MessagesFile, harness.Message("user", "look at /etc/hosts and .github/workflows/ci.yml"))
	for _, c := range []struct {
		path string
		want []string
	}{
		{`"auth/refresh_token.go"`, []string{"messages:1"}},
		{`"auth/refresh_token.go" night?n=1`, []string{"messages:1"}},
		{`night "auth/refresh_token.go"`, []string{"messages:1"}},
		{`"/etc/hosts"`, []string{"messages:7"}},
		{`".github/workflows/ci.yml"`, []string{"messages:7"}},
		{`"/etc/hosts" "github/workflows"`, []string{"messages:7"}},
		{`"etc/passwd"`, nil},
		{`auth%2Frefresh_token.go?n=1`, []string{"messages:1"}},
	} {
		answer := s.Bash("cat 'context/search/" + c.path + "'").OK()
		if got := hits(answer); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
		if r := s.Bash("cat '../../search/" + c.path + "'"); r.Code != 0 || !slices.Equal(hits(r.Stdout), c.want) {
			t.Errorf("the agent's %s: %+v", c.path, r)
		}
	}
	// What was asked is listed under names that a directory can have, and they find the same.
	got := s.Bash(`cd context/search; test "$(cat '"auth%2Frefresh_token.go"')" = "$(cat '"auth/refresh_token.go"')" && echo the same
find . -type f > /dev/null; grep -r nothing . > /dev/null; ls | grep -cx '"%2Fetc%2Fhosts"'
test -d '"auth' && ls '"auth' && cat '"auth' 2>&1 | grep -o 'Is a directory'
cat auth/refresh_token.go 2>&1 | grep -o 'Not a directory'
mkdir '"auth/x' 2>/dev/null || echo no mkdir; cat '5" disk' | head -c 9`).OK()
	if want := "the same\n1\nIs a directory\nNot a directory\nno mkdir\n# nothing"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := os.ReadFile(s.Path(ctxabi.SearchDir + `/"auth/refresh"?colour=red`)); err == nil {
		t.Error("a bad filter passes behind a phrase")
	} else if row := s.Errors()[len(s.Errors())-1]; row.Errno != "EINVAL" || !strings.Contains(row.Reason, "colour") {
		t.Errorf("%+v", row)
	}
	m.Restart()
	if data, err := os.ReadFile(filepath.Join(s.Dir, ctxabi.SearchDir, `"/etc/hosts"`)); err != nil || !strings.Contains(string(data), "messages:7") {
		t.Errorf("after a start: %s, %v", data, err)
	}
}

// A question stands with its answer and a call with its result, each with its address.
func TestWhatBelongsToAHit(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s)
	s.Append(ctxabi.MessagesFile, harness.Message("user", "Which quokka did you pick?")+harness.Message("assistant", "The small one, since it fits."))
	for _, c := range []struct{ query, want string }{
		{"quokka", "## messages:7 user · context/line/7.txt\nWhich quokka did you pick?\n### messages:8 assistant, the answer · context/line/8.txt\nThe small one, since it fits.\n"},
		{"fits", "\nThe small one, since it fits.\n### messages:7 user, the question · context/line/7.txt\nWhich quokka did you pick?\n"},
		{"zebra", "### messages:3 tool bash, its result · context/line/3.txt\n"},
		{"zebra", "\nexit status E4711\n"},
		{"platypus", "\nthe platypus line\n### messages:2 assistant, its call · context/line/2.txt\nbash {\"command\":\"make test\\ngrep zebra\"}\n"},
		{`"deployed to"`, "### events:1 tool_call deploy, its call · context/line/e1.txt\ndeploy {\"to\":\"staging\"}\n"},
	} {
		if answer := find(t, s, c.query); !strings.Contains(answer, c.want) {
			t.Errorf("%s: %s\nwant in it %s", c.query, answer, c.want)
		}
	}
	var j struct {
		Hits []struct {
			With []struct{ Source, Who, What, Path, Text string }
		}
	}
	if err := json.Unmarshal([]byte(find(t, s, "quokka?format=json")), &j); err != nil || len(j.Hits) != 1 || len(j.Hits[0].With) != 1 {
		t.Fatalf("%+v, %v", j, err)
	}
	w := j.Hits[0].With[0]
	if got := s.Read(w.Path); w.Source != "messages:8" || w.What != "the answer" || strings.TrimSpace(got) != w.Text {
		t.Errorf("%+v, %s", w, got)
	}
}
