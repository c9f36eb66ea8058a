package ctxabi

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

func TestParseBudget(t *testing.T) {
	for in, want := range map[string]int{"32000": 32000, " 0\n": 0, "\t1\r\n": 1, "007": 7, "2147483647": math.MaxInt32} {
		if n, ok, err := ParseBudget([]byte(in)); err != nil || !ok || n != want {
			t.Errorf("%q: %d, %v, %v", in, n, ok, err)
		}
	}
	for _, in := range []string{"", "\n", " \t\r\n"} {
		if _, ok, err := ParseBudget([]byte(in)); ok || err != nil {
			t.Errorf("%q: %v, %v; want no choice", in, ok, err)
		}
	}
	for _, in := range []string{"-1", "+1", "1 2", "1.5", "1e3", "0x10", "32k", "1_000", "2147483648", "99999999999999999999", "x", "1\x00", "\xff", "٣"} {
		if _, ok, err := ParseBudget([]byte(in)); ok || !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v, %v; want ErrMalformed", in, ok, err)
		}
	}
}

func TestParsePolicy(t *testing.T) {
	d := DefaultPolicy()
	for in, want := range map[string]Policy{
		"": d, "# nothing\n\n  \n": d, "pack_ttl=24h": d,
		"pack_ttl = 2d # two days\r\nswap_ttl=1w\nkeep_messages=0\ndelete_after=90d": {
			PackTTL: 48 * time.Hour, SwapTTL: 7 * 24 * time.Hour, DedupMinRefs: 1, KeepEvents: true, DeleteAfter: 90 * 24 * time.Hour},
		"keep_events=0\narchive_after=1.5h\ndedup_min_refs=3\nkeep_messages=0\nkeep_messages=1": {
			PackTTL: d.PackTTL, SwapTTL: d.SwapTTL, DedupMinRefs: 3, KeepMessages: true, ArchiveAfter: 90 * time.Minute},
	} {
		if p, err := ParsePolicy([]byte(in)); err != nil || p != want {
			t.Errorf("%q: %+v, %v", in, p, err)
		}
	}
	for in, why := range map[string]string{
		"pack_ttl": "line 1: expected KEY=VALUE", "\nx=1": `line 2: unknown key "x"`, "PACK_TTL=1d": "unknown key", "pack_ttl=": "bad value", "pack_ttl=1": "bad value",
		"pack_ttl=-1d": "bad value", "swap_ttl=1y": "bad value", "keep_messages=yes": "bad value", "keep_events=": "bad value", "dedup_min_refs=-1": "bad value",
		"dedup_min_refs=1e9": "bad value", "delete_after=NaNd": "bad value", "archive_after=Infd": "bad value", "=1": "unknown key", "pack_ttl=1d=2": "bad value",
	} {
		if _, err := ParsePolicy([]byte(in)); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", in, err, why)
		}
	}
}

func TestParseDuration(t *testing.T) {
	day := 24 * time.Hour
	for in, want := range map[string]time.Duration{
		"0": 0, "0d": 0, "1d": day, "30d": 30 * day, "1w": 7 * day, "1.5d": 36 * time.Hour, "1w2d3h": 9*day + 3*time.Hour, "90m": 90 * time.Minute,
		"1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond, "1us": time.Microsecond, "1µs": time.Microsecond, "106751d": 106751 * day,
	} {
		if d, err := ParseDuration(in); err != nil || d != want {
			t.Errorf("%q: %v, %v", in, d, err)
		}
	}
	for _, in := range []string{"", " ", "d", "1", "-1d", "+1d", "1 d", "1dd", "1D", "1.2.3d", "..d", ".", "NaNd", "Infd", "1e3d", "0x1d", "1_0d",
		"106752d", "99999999999d", "106751d24h", "1h\n", "1é"} {
		if d, err := ParseDuration(in); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v, %v", in, d, err)
		}
	}
}

func TestParseSpan(t *testing.T) {
	for in, want := range map[string]Span{"12": {12, 12}, "12-18": {12, 18}, "1-1": {1, 1}, "2147483647": {math.MaxInt32, math.MaxInt32}} {
		s, err := ParseSpan(in)
		if err != nil || s != want || s.Len() != want.To-want.From+1 {
			t.Errorf("%q: %v, %v", in, s, err)
		}
		if back, err := ParseSpan(s.String()); err != nil || back != s {
			t.Errorf("%q printed as %q comes back as %v, %v", in, s, back, err)
		}
	}
	for _, in := range []string{"", "0", "-1", "-", "1-", "-2", "18-12", "01", "1-02", "+1", "1 ", "1-2-3", "2147483648", "1.0", "x", "١"} {
		if s, err := ParseSpan(in); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v, %v", in, s, err)
		}
	}
}

func TestParseSource(t *testing.T) {
	for in, want := range map[string]Source{
		"messages:12":           {Scheme: "messages", Kind: ByRange, Span: Span{12, 12}},
		"messages:12-18":        {Scheme: "messages", Kind: ByRange, Span: Span{12, 18}},
		"messages:1-40":         {Scheme: "messages", Kind: ByRange, Span: Span{1, 40}},
		"messages:80-96":        {Scheme: "messages", Kind: ByRange, Span: Span{80, 96}},
		"messages:200-230":      {Scheme: "messages", Kind: ByRange, Span: Span{200, 230}},
		"messages:tail:40":      {Scheme: "messages", Kind: ByTail, Tail: 40},
		"events:991":            {Scheme: "events", Kind: ByRange, Span: Span{991, 991}},
		"events:ev-991":         {Scheme: "events", Kind: ByID, ID: "ev-991"},
		"events:tail:3":         {Scheme: "events", Kind: ByTail, Tail: 3},
		"user:latest":           {Scheme: "user", Kind: ByID, ID: "latest"},
		"swap:old-design":       {Scheme: "swap", Kind: ByID, ID: "old-design"},
		"tool:test-output-1":    {Scheme: "tool", Kind: ByID, ID: "test-output-1"},
		"tool:call:with:colons": {Scheme: "tool", Kind: ByID, ID: "call:with:colons"},
		"memory:notes.md":       {Scheme: "memory"},
		"https://example.com/a": {Scheme: "https"},
		"internal/auth.go":      {},
		"":                      {},
	} {
		want.Text = in
		if s, err := ParseSource(in); err != nil || s != want {
			t.Errorf("%q: %+v, %v", in, s, err)
		}
	}
	for _, in := range []string{"messages:", "messages:0", "messages:x", "messages:18-12", "messages:tail:", "messages:tail:0", "messages:1,3", "events:", "events:tail:x", "user:", "tool:", "swap:"} {
		if s, err := ParseSource(in); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %+v, %v", in, s, err)
		}
	}
}

func TestParseRef(t *testing.T) {
	for in, want := range map[string]Ref{
		"home/1000/agent/coder/session/s1":         {UID: 1000, Agent: "coder", Session: "s1"},
		"/home/0/agent/a/session/b/":               {Agent: "a", Session: "b"},
		"home/4294967294/agent/a.b/session/C+d-e_": {UID: 4294967294, Agent: "a.b", Session: "C+d-e_"},
		"shared/team/agent/a/session/b":            {Space: "team", Agent: "a", Session: "b"},
	} {
		r, err := ParseRef(in)
		if err != nil || r != want {
			t.Errorf("%q: %+v, %v", in, r, err)
		}
		if back, err := ParseRef(r.Path()); err != nil || back != r {
			t.Errorf("%q comes back as %+v, %v", r.Path(), back, err)
		}
	}
	for _, in := range []string{"", "/", "home", "home/1000/agent/coder/session", "home/1000/agent/coder/session/s1/context", "home/01/agent/a/session/b", "home/4294967295/agent/a/session/b",
		"home/-1/agent/a/session/b", "home/x/agent/a/session/b", "home/1/agents/a/session/b", "home/1/agent/a/sessions/b", "home/1/agent/../session/b", "home/1/agent/a/session/.b",
		"home/1/agent//session/b", "shared/.x/agent/a/session/b", "other/1/agent/a/session/b", "home/1/agent/a/session/b c", "home/1/agent/a/session/b\x00"} {
		if r, err := ParseRef(in); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %+v, %v", in, r, err)
		}
	}
}

func TestValidName(t *testing.T) {
	for _, s := range []string{"a", "Z", "0", "a.b_c+d-e", "a..", strings.Repeat("x", MaxName)} {
		if err := ValidName(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{"", ".", "..", ".a", "_a", "-a", "+a", "a/b", "a b", "a\n", "a\x00", "é", "aé", "a\xff", "a:b", "a%2F", "a~", strings.Repeat("x", MaxName+1)} {
		if err := ValidName(s); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestContentID(t *testing.T) {
	id := ContentID([]byte("abc"))
	if id != "sha256-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("of abc: %s", id)
	}
	if err := ParseContentID(id); err != nil {
		t.Error(err)
	}
	for _, s := range []string{"", "sha256-", id[:len(id)-1], id + "0", strings.ToUpper(id), "sha256-" + strings.ToUpper(id[7:]), "sha256:" + id[7:], "sha256-" + strings.Repeat("g", 64), " " + id} {
		if err := ParseContentID(s); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestPinNames(t *testing.T) {
	for _, name := range []string{"rules.md", "a", "sedxxxxx", "sedxxxxxxx", "xsedabcdef", "4914", "a~b"} {
		if !IsPin(name) {
			t.Errorf("%q is a pin", name)
		}
	}
	for _, name := range []string{".a", ".a.swp", "rules.md~", "4913", "sedAb12cd"} {
		if IsPin(name) {
			t.Errorf("%q is an editor's", name)
		}
	}
}

func TestErrors(t *testing.T) {
	e := E("append", MessagesFile, ErrMalformed, "line %d", 3)
	e.Err = fs.ErrPermission
	if got, want := e.Error(), "append messages.jsonl: malformed: line 3: permission denied"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	wrapped := fmt.Errorf("session s1: %w", e)
	var back *Error
	if !errors.Is(wrapped, ErrMalformed) || !errors.Is(wrapped, os.ErrPermission) || errors.Is(wrapped, ErrIO) || !errors.As(wrapped, &back) {
		t.Error("kind or cause is lost in wrapping")
	}
	if n := ErrnoName(wrapped); n != "EINVAL" {
		t.Errorf("errno %s", n)
	}
	for err, want := range map[error]string{nil: "", errors.New("x"): "EIO", ErrAppendOnly: "EPERM", ErrTooLarge: "EMSGSIZE", ErrOverBudget: "EFBIG", ErrQuota: "EDQUOT", ErrNoMemory: "ENOMEM", ErrNoData: "ENODATA", &Error{Kind: ErrIO, Err: ErrNotFound}: "EIO"} {
		if n := ErrnoName(err); n != want {
			t.Errorf("%v: %q, want %q", err, n, want)
		}
	}
}

// The parsers of short texts take anything without a panic, and what they accept
// they accept again as they print it.
func FuzzParsers(f *testing.F) {
	for _, s := range []string{"32000\n", "pack_ttl=1d\n#x", "1w2d", "12-18", "messages:tail:3", "home/1/agent/a/session/b", "shared/s/agent/a/session/b", "", "=", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkSettings(t, s)
		if x, err := ParseSpan(s); err == nil && (x.String() != s && s != fmt.Sprintf("%d-%d", x.From, x.To) || x.Len() < 1) {
			t.Errorf("span %q: %v", s, x)
		}
		if x, err := ParseSource(s); err == nil && (x.Text != s || x.Kind == ByRange && x.Span.Len() < 1 || x.Kind == ByTail && x.Tail < 1 || x.Kind == ByID && x.ID == "") {
			t.Errorf("source %q: %+v", s, x)
		}
		if r, err := ParseRef(s); err == nil && r.Path() != strings.Trim(s, "/") {
			t.Errorf("ref %q: %q", s, r.Path())
		}
		if ValidName(s) == nil && strings.ContainsAny(s, "/\x00\n ") {
			t.Errorf("name %q", s)
		}
	})
}

// checkSettings holds the parsers of settings to what FuzzParsers promises.
func checkSettings(t *testing.T, s string) {
	if n, ok, err := ParseBudget([]byte(s)); ok {
		if m, ok, err2 := ParseBudget(fmt.Appendln(nil, n)); n < 0 || err != nil || !ok || err2 != nil || m != n {
			t.Errorf("budget %q: %d", s, n)
		}
	}
	if p, err := ParsePolicy([]byte(s)); err == nil && (p.PackTTL < 0 || p.SwapTTL < 0 || p.ArchiveAfter < 0 || p.DeleteAfter < 0 || p.DedupMinRefs < 0) {
		t.Errorf("policy %q: %+v", s, p)
	}
	if d, err := ParseDuration(s); err == nil {
		if e, err := ParseDuration(d.String()); d < 0 || err != nil || e != d {
			t.Errorf("duration %q: %v, then %v, %v", s, d, e, err)
		}
	}
}
