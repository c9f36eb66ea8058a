package derivedtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// context/requests.md lists every message of the user, and grows with the log.
func TestRequestsListUserMessages(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append(ctxabi.MessagesFile, harness.Message("user", "Exit with status 3.\nSay why.")+
		harness.Message("assistant", "I do.")+
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"done"}]}`+"\n")
	want := "- [1] Exit with status 3. · context/line/1.txt\n"
	if got := s.Read(ctxabi.RequestsFile); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Append(ctxabi.MessagesFile, harness.Message("user", "No: with status 2."))
	want += "- [4] No: with status 2. · context/line/4.txt\n"
	if got := s.Read(ctxabi.RequestsFile); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if info, err := os.Stat(s.Path(ctxabi.RequestsFile)); err != nil || info.Size() != int64(len(want)) {
		t.Errorf("size %v, %v", info, err)
	}
	if names := s.Bash("ls context").OK(); !strings.Contains(names, "requests.md\n") {
		t.Errorf("not listed: %s", names)
	}
	wantOrigin(t, s, ctxabi.RequestsFile, "derived")
	if r := s.Bash("echo x >> context/requests.md"); r.Code == 0 {
		t.Error("it can be written")
	}
}

// context/line lists the newest 10,000 records of each log; older ones are found by name.
func TestLinesAreListed(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	list := func() (names []string) {
		entries, err := os.ReadDir(s.Path(ctxabi.LineDir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if got := list(); len(got) != 0 {
		t.Errorf("an empty session lists %v", got)
	}
	s.Append(ctxabi.MessagesFile, harness.Message("user", "one")+harness.Message("assistant", "two"))
	s.Append(ctxabi.EventsFile, `{"type":"note"}`+"\n")
	if got := list(); !slices.Equal(got, []string{"1.txt", "2.txt", "e1.txt"}) {
		t.Errorf("lists %v", got)
	}
	if got := s.Bash("cat context/line/*.txt").OK(); !strings.HasPrefix(got, "one\ntwo\n") {
		t.Errorf("the listed files are %q", got)
	}

	var b strings.Builder
	for i := range 10500 {
		b.WriteString(harness.Message("user", fmt.Sprint("message ", i)))
	}
	s.Append(ctxabi.MessagesFile, b.String())
	got := list()
	newest := slices.Contains(got, "503.txt") && slices.Contains(got, "10502.txt") && slices.Contains(got, "e1.txt")
	if len(got) != 10001 || !newest || slices.Contains(got, "502.txt") {
		t.Errorf("lists %d names", len(got))
	}
	if text := s.Bash("cat context/line/502.txt").OK(); text != "message 499\n" {
		t.Errorf("record 502 is %q", text)
	}
	rewound := s.Python("import os\nd = os.open('context/line', os.O_RDONLY)\n" +
		"a = os.listdir(d); b = os.listdir(d); print(a == b, len(a))").OK()
	if rewound != "True 10001\n" {
		t.Errorf("read twice: %s", rewound)
	}
}
