package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/internal/redact/redacttest"
)

// The rules are those of the release that they say they are of: go mod download github.com/zricethezav/gitleaks/v8@v8.30.1
// has the same file as config/gitleaks.toml.
func TestTheLibraryIsThatOfItsRelease(t *testing.T) {
	const want = "e163e53b9e7e8a8511e77271e2b323ed057759542a6d988258afe3a1fa329caf"
	if sum := sha256.Sum256([]byte(libraryText)); hex.EncodeToString(sum[:]) != want {
		t.Errorf("gitleaks.toml has the SHA-256 %x; it is kept as its authors publish it", sum)
	}
	rules, _, err := fromLibrary()
	if err != nil || len(rules) < 200 {
		t.Fatalf("%d rules, %v", len(rules), err)
	}
	for _, r := range slices.Concat(rules, contexts()) {
		if r.compiled(); len(r.keywords) == 0 {
			t.Errorf("rule %s has no keyword: nothing would lead to it", r.id)
		}
	}
}

func TestAllowList(t *testing.T) {
	const text = "DB_PASSWORD=Sandbox-123!x password: Other123!y"
	for allow, want := range map[string]string{
		"":                            "DB_PASSWORD=[redacted:password] password: [redacted:password]",
		"# ours\n\nSandbox-123!x\r\n": "DB_PASSWORD=Sandbox-123!x password: [redacted:password]",
		"/^Sandbox-/":                 "DB_PASSWORD=Sandbox-123!x password: [redacted:password]",
		"rule:password":               text,
		"Sandbox-123":                 "DB_PASSWORD=[redacted:password] password: [redacted:password]",
	} {
		if out, _ := redactor(t, allow).Text(text); out != want {
			t.Errorf("%q: %s", allow, out)
		}
	}
	for _, bad := range []string{"/(/", "/.*/", "/x|/"} {
		if _, err := ParseAllow([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	a, _ := ParseAllow([]byte("rule:no-such"))
	if _, err := New(a); err == nil {
		t.Error("a rule that there is not is taken")
	}
	if redactor(t, "a1\nb2").Fingerprint() != redactor(t, "# x\nb2\na1\n").Fingerprint() || redactor(t, "a1").Fingerprint() == redactor(t, "").Fingerprint() {
		t.Error("a fingerprint stands for what is allowed, not for how that is written")
	}
	if out, _ := redactor(t, "").Text("password = Abc123!defg # gitleaks:allow"); strings.Contains(out, "Abc123") {
		t.Error("a text allows itself")
	}
}

// anyText is made of seeds, of what rules go by, and of anything.
func anyText(seeds []redacttest.Seed) *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string { return seeds[rapid.IntRange(0, len(seeds)-1).Draw(t, "seed")].Text }),
		rapid.SampledFrom([]string{"password", "=", ": ", "\"", "\\\"", "token", "\n", " ", "key", "[redacted:password]", "[redacted:", "]", "Abc123!x", "\x1b[31m", "-----BEGIN", "://", "@", "{\"", "}", "ü"}),
		rapid.StringN(0, 12, -1))
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "") })
}

func checkText(t interface{ Errorf(string, ...any) }, r *Redactor, s string) {
	out, found := r.Text(s)
	if again, more := r.Text(out); again != out {
		t.Errorf("%q\ngives %q\nand then %q: %v", s, out, again, more)
	}
	if (out == s) != (len(found) == 0) {
		t.Errorf("%q\ngives %q: %v", s, out, found)
	}
	if second, _ := r.Text(s); second != out {
		t.Errorf("%q gives two texts", s)
	}
	raw, err := json.Marshal(map[string]any{"role": "user", "content": s, "x": []any{s, 1.5}})
	if err != nil {
		return
	}
	doc, _ := r.JSON(raw)
	if again, _ := r.JSON(doc); string(again) != string(doc) || !json.Valid(doc) {
		t.Errorf("%s\ngives %s\nand then %s", raw, doc, again)
	}
}

func TestRedactingTwiceIsRedactingOnce(t *testing.T) {
	r, seeds := redactor(t, ""), redacttest.Seeds(rand.New(rand.NewPCG(7, 7)))
	rapid.Check(t, func(t *rapid.T) { checkText(t, r, anyText(seeds).Draw(t, "text")) })
}

func FuzzText(f *testing.F) {
	r := redactor(f, "")
	for _, s := range redacttest.Seeds(rand.New(rand.NewPCG(3, 3))) {
		f.Add(s.Text)
	}
	f.Fuzz(func(t *testing.T, s string) { checkText(t, r, s) })
}

func FuzzJSON(f *testing.F) {
	r := redactor(f, "")
	f.Add([]byte(`{"role":"user","content":[{"type":"text","text":"a"}],"password":"tulip9"}`))
	f.Add([]byte(`[{"name":"X_TOKEN","value":"{\"a\":\"\\ud800\"}"}, -1e5, null]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, found := r.JSON(raw)
		if json.Valid(raw) != json.Valid(out) && json.Valid(raw) || len(found) == 0 && string(out) != string(raw) {
			t.Errorf("%q gives %q", raw, out)
		}
	})
}

type memory []string

func (m memory) Len() int                     { return len(m) }
func (m memory) Record(n int) ([]byte, error) { return []byte(m[n-1]), nil }

// What is shown of a record hangs on nothing that came later, whoever asks for what in which order.
func TestARecordLooksTheSameWhateverComesLater(t *testing.T) {
	r, seeds := redactor(t, ""), redacttest.Seeds(rand.New(rand.NewPCG(9, 9)))
	rapid.Check(t, func(t *rapid.T) {
		var logs [2]memory
		var before [2][]int // by record: how many of the other log were there
		for range rapid.IntRange(1, 12).Draw(t, "records") {
			s := rapid.IntRange(0, 1).Draw(t, "side")
			x := seeds[rapid.IntRange(0, len(seeds)-1).Draw(t, "seed")]
			said := x.Text
			if rapid.Bool().Draw(t, "bare") {
				said = "and " + x.Secret + " once more"
			}
			logs[s] = append(logs[s], text(map[string]any{"role": "user", "type": "x", "content": said}))
			before[s] = append(before[s], len(logs[1-s]))
		}
		history := func(upTo [2]int) History {
			return History{Messages: logs[0][:upTo[0]], Events: logs[1][:upTo[1]], Before: func(event bool, n int) int { return before[side(event)][n-1] }}
		}
		all := r.NewLedger()
		whole := history([2]int{len(logs[0]), len(logs[1])})
		all.Known(whole, [2]int{len(logs[0]), len(logs[1])})
		for s := range logs {
			for n := len(logs[s]); n >= 1; n-- {
				upTo := [2]int{}
				upTo[s], upTo[1-s] = n, before[s][n-1]
				then, err := r.NewLedger().Record(history(upTo), s == 1, n, []byte(logs[s][n-1]))
				now, err2 := all.Record(whole, s == 1, n, []byte(logs[s][n-1]))
				if err != nil || err2 != nil || string(then) != string(now) {
					t.Fatalf("side %d, record %d: %s, and later %s", s, n, then, now)
				}
			}
		}
	})
}

func TestASecretThatWasToldIsKnownBare(t *testing.T) {
	r := redactor(t, "")
	for _, x := range redacttest.Seeds(rand.New(rand.NewPCG(5, 5))) {
		if !x.Bare {
			continue
		}
		m := memory{`{"content":` + text("earlier") + `}`, text(map[string]any{"content": x.Text}), text(map[string]any{"content": "use " + x.Secret + " there"})}
		h := History{Messages: m, Events: memory{}, Before: func(bool, int) int { return 0 }}
		out, err := r.NewLedger().Record(h, false, 3, []byte(m[2]))
		if err != nil || strings.Contains(string(out), escaped(x.Secret)) {
			t.Errorf("%s: %s, %v", x.Name, out, err)
		}
	}
}

func BenchmarkText(b *testing.B) {
	r := redactor(b, "")
	log := strings.Repeat("2026-11-21T14:29:29Z INFO auth/refresh.go:88 token refreshed key=user:1234 in 12ms\nfunc (c *Client) refresh(ctx context.Context) error { return c.do(ctx, c.key) }\n", 4000)
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		r.Text(log)
	}
}
