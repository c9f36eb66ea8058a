package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/redact/redacttest"
	"github.com/ctxfs/ctxfs/internal/suite"
)

func redactor(tb testing.TB, allow string) *Redactor {
	tb.Helper()
	a, err := ParseAllow([]byte(allow))
	if err != nil {
		tb.Fatal(err)
	}
	r, err := New(a)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// around are texts that a secret stands in, as it is or escaped once more.
var around = map[string]func(text string) string{
	"alone": func(s string) string { return s },
	"in a long text": func(s string) string {
		return strings.Repeat("ok   example.org/pkg/name 0.012s\n", 200) + s + "\n" + strings.Repeat("the keys of the map are tokens, see auth.go\n", 200)
	},
	"behind words that rules go by": func(s string) string { return "key token secret password auth api: \n" + s },
}

func TestSeededSecretsAreFound(t *testing.T) {
	r := redactor(t, "")
	for seed := range suite.Pick[uint64](t, 1, 2) {
		for _, s := range redacttest.Seeds(rand.New(rand.NewPCG(seed, 1))) {
			for name, in := range around {
				if out, _ := r.Text(in(s.Text)); strings.Contains(out, s.Secret) {
					t.Errorf("seed %d, %s, %s: %q is left", seed, s.Name, name, s.Secret)
				}
			}
			for name, record := range map[string]any{
				"content":   map[string]any{"role": "user", "content": s.Text},
				"part":      map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": s.Text}}},
				"arguments": map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "c", "name": "sh", "arguments": text(map[string]any{"cmd": s.Text})}}},
				"input":     map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": "c", "name": "sh", "input": map[string]any{"cmd": s.Text}}}},
				"name":      map[string]any{"type": "x", "rest": map[string]any{s.Text: 1}},
			} {
				raw := []byte(text(record))
				out, found := r.JSON(raw)
				if !json.Valid(out) || len(found) == 0 || bytes.Contains(out, []byte(escaped(s.Secret))) {
					t.Errorf("seed %d, %s as %s: %s", seed, s.Name, name, out)
				}
			}
		}
	}
}

// text is v as JSON.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// escaped is how a text stands in a string of JSON.
func escaped(s string) string { b := text(s); return b[1 : len(b)-1] }

func TestFieldsAreKnownByTheirNames(t *testing.T) {
	r := redactor(t, "")
	for in, want := range map[string]string{
		`{"password":"tulip"}`:                      `{"password":"[redacted:password]"}`,
		`{"db_password" : "r \"b\" c1"}`:            `{"db_password" : "[redacted:password]"}`,
		`{"name":"DB_PASSWORD","value":"tulip"}`:    `{"name":"DB_PASSWORD","value":"[redacted:password]"}`,
		`{"password":["tulip","rose9"]}`:            `{"password":["[redacted:password]","[redacted:password]"]}`,
		`{"a":"{\"password\":\"tulip\"}","n":1.50}`: `{"a":"{\"password\":\"[redacted:password]\"}","n":1.50}`,
		`{"password":"string"}`:                     ``,
		`{"password":""}`:                           ``,
		`{"password":"${DB_PASSWORD}"}`:             ``,
		`{"password":"\u003cyour password\u003e"}`:  ``,
		`{"max_tokens":"4096","token":"x"}`:         ``,
		`{"name":"password","value":true}`:          ``,
		`{"type":"image","source":{"data":"password=` + strings.Repeat("A1b", 90) + `"}}`: ``,
	} {
		if want == "" && !strings.Contains(in, "image") {
			want = in
		}
		if out, _ := r.JSON([]byte(in)); want != "" && string(out) != want {
			t.Errorf("%s\n got %s\nwant %s", in, out, want)
		}
	}
}

// What programs and people write around secrets is none.
func TestOrdinaryTextStays(t *testing.T) {
	r := redactor(t, "")
	for _, s := range []string{
		"password: string\npassword = os.getenv('DB_PASSWORD')\nself.password = password\npassword: Optional[str] = None",
		"--- PASS: TestTokenIsCached (0.00s)\n    --- FAIL: TestPassword/wrong_key (0.01s)",
		"func f(token string, key []byte) { key = make([]byte, 32); apiKey := cfg.APIKey }",
		"MAX_TOKENS=4096\nTOKENIZERS_PARALLELISM=false\nSSH_KEY_PATH=/home/me/.ssh/id_rsa\nPUBLIC_KEY=abc\nSECRET_NAME=app-db",
		"PASSWORD=${PASSWORD:?set it}\nTOKEN=$(cat /run/secrets/token)\nPASSWORD=<your password>\nAPI_KEY=xxxxxxxx",
		"commit 3f786850e387550fdab836ed7e6dc881de23001b\nkey: 3f786850e387550fdab836ed7e6dc881de23001b",
		"sha256-65f2cbcac1247a184c3aecdd44b3a8ff4f181ff12953fac1b0e6f56e9d23c3af is the pack_id; key=sha256:65f2cbcac1247a184c3aecdd44b3a8ff4f181ff12953fac1b0e6f56e9d23c3af",
		"session key 0f8fad5b-d9cb-469f-a165-70867728950e and tool_call_id: toolu_01A09q90qw90lq917835lq9",
		"the token is expired, the password was wrong; his password is secret",
		"golang.org/x/sys v0.49.0 h1:Bgzlwj1w1AmHYXxRH6zTBmKHwkxFLmEzXhJUZ8rOgQo=",
		"http://localhost:8080/path?key=value&token=abc https://user@host/x git@github.com:a/b.git mailto:a@b.c",
		"Cookie: theme=dark; lang=en\nSet-Cookie: a=; Path=/; SameSite=Lax",
		"Authorization: Bearer <token>\nAuthorization: Bearer $TOKEN\nthe bearer of this letter",
		"key := testRSA2048PrivateKey\nvar k ed25519.PrivateKey; key = encryptionKey1024",
		"-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
		"-----BEGIN PRIVATE KEY----- is how one begins",
		`{"id":"msg_013Zva2CMHLNnjNjJKqJ2EF","stop_reason":"end_turn","usage":{"input_tokens":2095}}`,
		"The password is\nwrong. The password was\nchanged yesterday.\n\nPassword:\nLogin successful\n$ ls\npassword\npasswd1.txt\nuser_2\n",
		"enter your password\nStep2Continue\nthe pin\n2026-01-02\n- password\n- sha256-65f2cbcac1247a18\n",
		"password:\n  type: string\n  minLength: 12\npassword:\n    os.environ.get(\"DB1\")\n",
		"API key:\nhttps://console.example.org/Keys/Abc123Def456\nid key:\n0f8fad5b-d9cb-469f-a165-70867728950e\n",
		"the password is\n\n```sh\necho $PASSWORD\n```\nthe passphrase:\n\n```\n<your passphrase>\n```\n",
		"[redacted:password] [redacted:github-pat] password=[redacted:password]",
	} {
		if out, found := r.Text(s); out != s {
			t.Errorf("%q\n got %q: %v", s, out, found)
		}
	}
}

func TestNothingOfADataURLOrASignatureChanges(t *testing.T) {
	r := redactor(t, "")
	blob := strings.Repeat("AKIA"+"QWERTYUIOP234567", 40)
	for _, record := range []string{
		`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}]}`,
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,%s"}}]}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"%s"}]}`,
		`{"role":"assistant","content":[{"type":"redacted_thinking","data":"%s"}]}`,
	} {
		in := fmt.Sprintf(record, blob)
		if out, _ := r.JSON([]byte(in)); string(out) != in {
			t.Errorf("%s", out)
		}
	}
}

// A provider refuses a thought that is not the one it signed.
func TestAThoughtThatWasRedactedHasNoSignature(t *testing.T) {
	r := redactor(t, "")
	secret := "ghp_" + "Zr8qLw3nVt6yBc1kXm5pJd9sHf2gTa7uEo4i"
	const hidden = "[redacted:github-pat]"
	for _, record := range []struct{ in, out string }{
		{`{"type":"thinking","thinking":"I use SECRET.","signature":"c2ln"}`, `{"type":"thinking","thinking":"I use HIDDEN.","signature":""}`},
		{`[{"signature":"c2ln", "thinking":"I use SECRET."},"SECRET"]`, `[{"signature":"", "thinking":"I use HIDDEN."},"HIDDEN"]`},
		{`[{"thinking":"hm","signature":"c2ln"},{"type":"text","text":"SECRET"}]`, `[{"thinking":"hm","signature":"c2ln"},{"type":"text","text":"HIDDEN"}]`},
	} {
		in := strings.ReplaceAll(record.in, "SECRET", secret)
		if out, _ := r.JSON([]byte(in)); string(out) != strings.ReplaceAll(record.out, "HIDDEN", hidden) {
			t.Errorf("%s\n got %s", in, out)
		}
	}
}

// "The password is", and the value alone on the line below, was found nowhere.
func TestAValueOnTheLineBelowItsLabelIsFound(t *testing.T) {
	r := redactor(t, "")
	for in, want := range map[string]string{
		"The password is\nTulip-4711x":                           "The password is\n[redacted:password]",
		"The password is\r\nTulip-4711x\r\nBye.":                 "The password is\r\n[redacted:password]\r\nBye.",
		"the password for\ndb-1 is:\n\n  Tulip-4711x, rotate it": "the password for\ndb-1 is:\n\n  [redacted:password], rotate it",
		"Password:\n```\nTulip4711x\n```":                        "Password:\n```\n[redacted:password]\n```",
		"**PIN:**\n**Tulip-4711x**":                              "**PIN:**\n**[redacted:password]**",
		"DB_PASSWORD\n\n`Tulip-4711x`\n":                         "DB_PASSWORD\n\n`[redacted:password]`\n",
		"  3\tpassword:\n  4\tTulip-4711x\n":                     "  3\tpassword:\n  4\t[redacted:password]\n",
		`log: "the password is\nTulip-4711x\n"`:                  `log: "the password is\n[redacted:password]\n"`,
		"API key:\n\n    Q7x9fLm2Kp4Wz8Rt\n":                     "API key:\n\n    [redacted:KIND]\n",
		"the client secret is:\n> Q7x9fLm2Kp4Wz8Rt\n":            "the client secret is:\n> [redacted:KIND]\n",
	} {
		out, found := r.Text(in)
		if len(found) == 1 {
			want = strings.ReplaceAll(want, "KIND", found[0].Rule)
		}
		if out != want {
			t.Errorf("%q\n got %q\nwant %q", in, out, want)
		}
	}
}
