package packtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// A file that is read again stands in the prompt once; the reference in its place stands in every rendering, names what stands in front of it,
// and its path gives all of the result.
func TestRepeatsThroughTheMount(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	var file strings.Builder
	for i := range 80 {
		fmt.Fprintf(&file, "\tcase %d: return account(%d)\n", i, i*37)
	}
	edited := strings.Replace(file.String(), "\tcase 41: return account(1517)\n", "\tcase 41: return nil\n", 1)
	s.Append("messages.jsonl", harness.Message("user", "Read it, change it, read it again."))
	for i, text := range []string{file.String(), file.String(), edited} {
		content, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Append("messages.jsonl", fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","function":{"name":"read_file","arguments":"{}"}}]}`, i)+"\n")
		s.Append("messages.jsonl", fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%s}`, i, content)+"\n")
	}
	md := s.Read("context/pack.md")
	for _, want := range []string{
		"## 5 tool read_file [call 4.1]\n[the same as 3 above: 80 lines, ",
		"## 7 tool read_file [call 6.1]\n[mostly the same as 3 above: 79 of 80 lines, ",
		"…\n[line 42 for line 42 of 3]\n\tcase 41: return nil\n…\n",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("the pack does not hold %q:\n%s", want, md)
		}
	}
	if n := strings.Count(md, "\tcase 7: return account(259)\n"); n != 1 {
		t.Errorf("the file stands in the pack %d times", n)
	}
	var p struct {
		Items []struct{ Path, Range, Shortened string }
	}
	if err := json.Unmarshal([]byte(s.Read("context/pack.json")), &p); err != nil {
		t.Fatal(err)
	}
	repeats := 0
	for _, it := range p.Items {
		if it.Shortened != "repeat" {
			continue
		}
		repeats++
		want := file.String()
		if it.Range == "7" {
			want = edited
		}
		if got := s.Read(it.Path); !strings.Contains(got, want) {
			t.Errorf("%s does not give what record %s said:\n%s", it.Path, it.Range, got)
		}
	}
	if repeats != 2 {
		t.Errorf("pack.json knows of %d repeats", repeats)
	}
	for _, name := range builtFiles[3:] {
		if body := s.Read(name); strings.Count(body, "the same as 3 above") != 2 || !strings.Contains(body, "case 41: return nil") {
			t.Errorf("%s does not carry the references:\n%s", name, body)
		}
	}
}
