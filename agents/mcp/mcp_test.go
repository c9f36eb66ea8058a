package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"
)

func TestNumbersAreSaidAsRanges(t *testing.T) {
	for want, n := range map[string][]int{"": nil, "7": {7}, "1-3": {1, 2, 3}, "1,3-4,9": {1, 3, 4, 9}} {
		if got := ranges(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}

// A query becomes the name of a file as docs/search.md has it.
func TestQueriesBecomeNames(t *testing.T) {
	for _, tt := range []struct {
		in   searchInput
		want string
	}{
		{searchInput{Query: "token refresh"}, "token refresh"},
		{searchInput{Query: " token\n\trefresh "}, "token refresh"},
		{searchInput{Query: "auth/refresh.go?"}, "auth%2Frefresh.go%3F"},
		{searchInput{Query: "100%", N: 3, Role: "user"}, "100%25?n=3&role=user"},
		{searchInput{Query: ".env", Tool: "a&b/c"}, "%2Eenv?tool=a%26b%2Fc"},
		{searchInput{Query: "x", Tokens: 400, In: "events", Range: "1-9"}, "x?tokens=400&in=events&range=1-9"},
	} {
		if got := tt.in.fileName(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// Records keep their keys' order and their numbers' digits, on one line each.
func TestRecordsKeepTheirBytes(t *testing.T) {
	for in, want := range map[string]string{
		`[{"z":1.0,"a":1e400, "n":12345678901234567890}]`:           `{"z":1.0,"a":1e400,"n":12345678901234567890}`,
		"[{\n \"role\" : \"user\",\n\"content\":\"a\\nb\\ud800\"}]": `{"role":"user","content":"a\nb\ud800"}`,
		`{"role":"user"}`:   `{"role":"user"}`,
		`[{"a":1},[2],"x"]`: `{"a":1}` + "\n[2]\n\"x\"", // the files refuse what is no record
		`[]`:                "",
	} {
		var r records
		if err := json.Unmarshal([]byte(in), &r); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, b := range r {
			lines = append(lines, string(b))
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	var r records
	if err := json.Unmarshal([]byte(`7`), &r); err == nil {
		t.Error("a number is no list of records")
	}
}

// A cut text begins the whole one, is never longer than asked for, and ends between characters.
func TestCutsAreClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom([]rune("ab\nü界🙂"))).Draw(t, "text")
		n := rapid.IntRange(4, 40).Draw(t, "bytes")
		got := cut(s, n)
		if len(got) > n || !strings.HasPrefix(s, got) || !utf8.ValidString(got) || len(s) > 0 && got == "" {
			t.Fatalf("%q to %d: %q", s, n, got)
		}
	})
}

func TestPathsStayInside(t *testing.T) {
	x := newSession(Chosen{Dir: "/ctx/home/1000/agent/coder/session/s1"}, sdk.Implementation{Name: "t"})
	for p, want := range map[string]string{
		"context/line/3":                  "/ctx/home/1000/agent/coder/session/s1 context/line/3",
		"line/3.txt":                      "/ctx/home/1000/agent/coder/session/s1 context/line/3.txt",
		"messages:3":                      "/ctx/home/1000/agent/coder/session/s1 context/line/3",
		"events:12":                       "/ctx/home/1000/agent/coder/session/s1 context/line/e12",
		"ctxfs:///state":                  "/ctx/home/1000/agent/coder/session/s1 state",
		"home/1000/agent/x/session/y/cwd": "/ctx home/1000/agent/x/session/y/cwd",
		"../../memory/a.md":               "/ctx home/1000/agent/coder/memory/a.md",
		"/ctx/home/1000/agent/coder/session/s1/latest.md": "/ctx/home/1000/agent/coder/session/s1 latest.md",
		"/ctx/status":                            "/ctx status",
		"/ctx/home/1000/agent/coder/memory/a.md": "/ctx/home/1000/agent/coder memory/a.md",
		"/etc/passwd":                            "", "../../../../../../../../etc/passwd": "", "context/../../x": "", "/ctxx/y": "", "/ctx/../etc/passwd": "",
	} {
		base, name, err := x.where(p)
		if want == "" && err == nil || want != "" && base+" "+name != want {
			t.Errorf("%s: %q %q %v, want %q", p, base, name, err, want)
		}
	}
	for _, dir := range []string{"/session", "/session/s1", "/work/session/s1", "/"} {
		if x := newSession(Chosen{Dir: dir}, sdk.Implementation{}); x.home != "" || x.root != "" {
			t.Errorf("%s: around it are %q and %q, which are not ctxfs's", dir, x.home, x.root)
		}
	}
	home := &session{Chosen: Chosen{Dir: "/memory/session/s1"}, home: "/memory"} // as a container sees an agent's home
	for p, want := range map[string]string{"../../memory/a.md": "/memory memory/a.md", "home/7/agent/coder/session/s2/latest.md": "/memory session/s2/latest.md", "../../../etc/passwd": "", "/memory/tools.json": "/memory tools.json", "/etc/passwd": ""} {
		base, name, err := home.where(p)
		if want == "" && err == nil || want != "" && base+" "+name != want {
			t.Errorf("%s: %q %q %v, want %q", p, base, name, err, want)
		}
	}
	alone := newSession(Chosen{Dir: "/session"}, sdk.Implementation{Name: "t"}) // as a container sees one session
	for p, ok := range map[string]bool{"state": true, "/session/state": true, "home/1000": true, "../x": false, "/x": false} {
		if base, _, err := alone.where(p); (err == nil) != ok || ok && base != "/session" {
			t.Errorf("%s: %s %v", p, base, err)
		}
	}
}

func TestRecordsInAStringAreTaken(t *testing.T) {
	const one = `{"role":"user","content":"half \ud800, 1.0"}`
	inside, _ := json.Marshal("[" + one + "]")
	for _, in := range []string{one, "[" + one + "]", string(inside)} {
		var r records
		if err := json.Unmarshal([]byte(in), &r); err != nil || len(r) != 1 || string(r[0]) != one {
			t.Errorf("%s: %q, %v", in, r, err)
		}
	}
	for _, in := range []string{`"hello"`, `5`, `"[1"`} {
		var r records
		if err := json.Unmarshal([]byte(in), &r); err == nil || !strings.Contains(err.Error(), "a list of records is needed") {
			t.Errorf("%s: %v", in, err)
		}
	}
}
