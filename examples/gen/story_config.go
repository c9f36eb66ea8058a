package main

func configure(s *scene) {
	s.user("Nice catch. I talked to operations in the meantime: they want to be able to change the five. Make it configurable, an environment variable GATEWAY_AUTH_RETRIES is fine.")
	s.do("", s.grep(`Getenv`), s.read("config/config.go"))
	s.say("One remark before I do it: the only thing read from the environment so far is the secret. All else is in `gateway.toml`, where unknown keys are errors and operators can see the value in force. A variable would be the first exception.")
	s.user("Fair. I changed my mind then: no environment variable, only gateway.toml. Call it auth.refresh_retry_max. And make the default 3, five is a lot when the provider is really down.")
	s.decide("auth.refresh_retry_max in gateway.toml only, default 3, no environment variable")
	s.do("", s.read("config/parse.go"), s.read("cmd/gateway/main.go"), s.grep("NewSource"))
	s.say("`auth.NewSource(client, clock)` is called in main.go and in tests, and you pinned its signature. I'll add an exported field `RetryMax` with a sensible zero... no: zero must mean \"do not retry\" for operators. So a method `SetRetryMax`? A functional option would change the signature only compatibly: `NewSource(c, clk, opts ...Option)` still compiles everywhere, but its *type* changes, which breaks code that stores it in a variable. I prefer the field: NewSource sets it to 3, main.go overwrites it.")
	s.user("The field is fine.")
	s.do("", s.edit("auth/refresh.go", `type Source struct {
	client *Client
	clock  clock.Clock
`, `type Source struct {
	// RetryMax is how often a fetch that failed for a passing reason is tried
	// again; 0: never. It must not be changed once Token was called.
	RetryMax int

	client *Client
	clock  clock.Clock
`), s.edit("auth/refresh.go", `	return &Source{client: c, clock: clk}`, `	return &Source{RetryMax: DefaultRetryMax, client: c, clock: clk}`), s.edit("auth/refresh.go", `// retryMax is how often a fetch that failed for a passing reason is tried again.
const retryMax = 5
`, `// DefaultRetryMax is the RetryMax of a new Source, in retries.
const DefaultRetryMax = 3
`), s.edit("auth/refresh.go", `attempt == retryMax`, `attempt >= s.RetryMax`))
	s.do("", s.edit("config/config.go", `	Timeout  time.Duration // of one request to the identity provider
}`, `	Timeout  time.Duration // of one request to the identity provider

	// RefreshRetryMax is how often a refresh that failed for a passing reason is tried again; 0: never.
	RefreshRetryMax int
}`), s.edit("config/config.go", `		Auth:   Auth{Timeout: 5 * time.Second},`, `		Auth:   Auth{Timeout: 5 * time.Second, RefreshRetryMax: 3},`), s.edit("config/config.go", `	}
	for name, carrier := range c.Carrier {`, `	case c.Auth.RefreshRetryMax < 0 || c.Auth.RefreshRetryMax > 10:
		return fmt.Errorf("config: auth.refresh_retry_max must be 0 to 10, it is %d", c.Auth.RefreshRetryMax)
	}
	for name, carrier := range c.Carrier {`), s.edit("config/parse.go", `	default:
		name, ok := strings.CutPrefix(section, "carrier.")`, `	case "auth.refresh_retry_max":
		c.Auth.RefreshRetryMax, err = strconv.Atoi(text)
	default:
		name, ok := strings.CutPrefix(section, "carrier.")`), s.edit("cmd/gateway/main.go", `	slog.Info("listening"`, `	source.RetryMax = cfg.Auth.RefreshRetryMax
	slog.Info("listening"`))
	s.do("", s.create("config/retry_test.go", `package config

import (
	"strings"
	"testing"
)

func TestRefreshRetryMax(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
		err  string
	}{
		{"", 3, ""},
		{"[auth]\nrefresh_retry_max = 0", 0, ""},
		{"[auth]\nrefresh_retry_max = 10", 10, ""},
		{"[auth]\nrefresh_retry_max = 11", 0, "must be 0 to 10, it is 11"},
		{"[auth]\nrefresh_retry_max = -1", 0, "must be 0 to 10, it is -1"},
		{"[auth]\nrefresh_retry_max = many", 0, "line 2"},
	} {
		c, err := Parse(strings.NewReader(tt.text))
		c.Auth.Endpoint = "https://id.example.com/token"
		if err == nil {
			err = c.Validate()
		}
		switch {
		case tt.err == "" && err != nil:
			t.Errorf("%q: %v", tt.text, err)
		case tt.err == "" && c.Auth.RefreshRetryMax != tt.want:
			t.Errorf("%q: got %d, want %d", tt.text, c.Auth.RefreshRetryMax, tt.want)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%q: got %v, want an error with %q", tt.text, err, tt.err)
		}
	}
}
`))
	s.do("", s.test("go test -v ./config ./auth", []string{"config", "auth"}, failure{"config", "TestDefaultsAreValid", "    config_test.go:22: Default() differs from testdata/default.golden:\n        -Auth.RefreshRetryMax: (absent)\n        +Auth.RefreshRetryMax: 3\n        run with -update to accept\n"}))
	s.do("A golden file of the defaults, and the new key belongs into it.", s.sh("go test ./config -run TestDefaultsAreValid -update && git diff --stat config/testdata", " config/testdata/default.golden | 1 +\n 1 file changed, 1 insertion(+)\n"))
	s.do("", s.edit("docs/auth.md", "| `auth.timeout` | `5s` | of one request to it |\n", "| `auth.timeout` | `5s` | of one request to it |\n| `auth.refresh_retry_max` | `3` | how often a failed fetch is tried again, 0 to 10 |\n"), s.edit("docs/auth.md", `A failed fetch is remembered for 60 seconds, so that a provider that is down is
not asked by every request. During that time clients get 401.`, `A fetch that fails for a passing reason (5xx, 429, the network) is tried again up
to `+"`auth.refresh_retry_max`"+` times, with growing random waits of at most 2
seconds. Refused credentials are never tried again. One fetch runs at a time;
whoever needs a token meanwhile waits for it.

A fetch that failed for good is remembered for 60 seconds, so that a provider
that is down is not asked by every request. During that time clients get 401.`), s.edit("CHANGELOG.md", "## Unreleased\n", "## Unreleased\n- A failed token refresh is retried (`auth.refresh_retry_max`, default 3).\n- One token refresh at a time, however many requests wait for it.\n"))
	s.do("", s.test("make check", allPackages))
	s.do("", s.sh("git add -A && git commit -m 'config: auth.refresh_retry_max'", "[refresh-retry 51c6e0d] config: auth.refresh_retry_max\n 8 files changed, 78 insertions(+), 7 deletions(-)\n create mode 100644 config/retry_test.go\n"))
	s.say("Third commit: `51c6e0d`. `auth.refresh_retry_max` is in gateway.toml, default 3, 0 to 10; no environment variable. What is left of the list is the status: 503 instead of 401 when the provider is down.")
	s.user("I have to leave for today. Go on with the 503 tomorrow please, and note somewhere what is open.")
	s.do("", s.create("NOTES.md", "# Open\n- statusOf: 503 with Retry-After when the provider is down, 401 only for refused credentials\n- should the token be refreshed *before* it expires? Clocks of provider and gateway may differ.\n- metric for retries, so that operations can see it coming\n"))
	s.say("Noted in NOTES.md (not committed): the 503, a question about refreshing early, and a metric. Until tomorrow.")
	s.event("state", "state", "idle")
}

func nextMorning(s *scene) {
	s.pass(54_000, 56_000)
	s.event("state", "state", "active")
	s.user("Good morning. Where were we?")
	s.do("", s.read("NOTES.md"), s.sh("git log --oneline -4 && git status --short", "51c6e0d config: auth.refresh_retry_max\nb80d417 auth: one refresh at a time, however many callers wait\n3f2a91c auth: retry a refresh that failed for a passing reason\n9d1c2e7 auth: remember failures for 60 s so that a dead provider is not hammered (#212)\n?? NOTES.md\n"))
	s.say("Three commits are in: retries, one refresh at a time, `auth.refresh_retry_max`. Open: 503 instead of 401 while the provider is down, then your decision about refreshing early and a metric. I'd start with the 503.")
	s.user("Yes. With a Retry-After header, so that the partner's SDK backs off.")
	s.do("", s.read("server/errors.go"), s.read("server/middleware.go"), s.grep("401"))
	s.say("Two cases must be told apart: refused credentials (our configuration is wrong: stays 401? It is not the *client's* fault either) and a provider that is down. For the first I would answer 502 in a perfect world, but the runbook in docs greps for 401, so I leave it.")
	s.do("", s.edit("server/errors.go", `	switch {
	case errors.Is(err, errNoToken):
		return http.StatusUnauthorized`, `	switch {
	case errors.Is(err, errNoToken) && errors.Is(err, auth.ErrInvalidGrant):
		return http.StatusUnauthorized
	case errors.Is(err, errNoToken):
		return http.StatusServiceUnavailable`), s.edit("server/errors.go", `	"errors"
	"net/http"
)`, `	"errors"
	"net/http"

	"example.com/parcel-gateway/auth"
)`))
	s.do("", s.test("go test -v ./server", []string{"server"}, failure{"server", "TestNoTokenIs401", "    server_test.go:214: GET /v1/rates: status 503, want 401\n    server_test.go:214: POST /v1/parcels: status 503, want 401\n"}))
	s.say("That failure is the old behaviour nailed down. The test has to become two: a provider that is down gives 503 with Retry-After, refused credentials give 401.")
	s.do("", s.sh("grep -n -A28 'func TestNoTokenIs401' server/server_test.go", `203:func TestNoTokenIs401(t *testing.T) {
204-	id := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
205-		w.WriteHeader(http.StatusServiceUnavailable)
206-	}))
207-	defer id.Close()
208-	gw := newGateway(t, id.URL)
209-	for _, r := range []string{"GET /v1/rates", "POST /v1/parcels"} {
210-		method, path, _ := strings.Cut(r, " ")
211-		resp := do(t, gw, method, path)
212-		resp.Body.Close()
213-		if resp.StatusCode != http.StatusUnauthorized {
214-			t.Errorf("%s: status %d, want 401", r, resp.StatusCode)
215-		}
216-	}
217-}
`))
	s.do("", s.sh("python3 tools/split_test.py server/server_test.go TestNoTokenIs401 TestProviderDownIs503 TestRefusedCredentialsAre401", "server/server_test.go: TestNoTokenIs401 removed, 2 tests written\n"), s.create("server/unavailable.go", `package server

import (
	"net/http"
	"strconv"
	"time"
)

// retryAfter is what a client is told to wait while the identity provider is down.
const retryAfter = 5 * time.Second

// writeStatus answers with status, and says when to come back where that helps.
func writeStatus(w http.ResponseWriter, status int) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	}
	http.Error(w, http.StatusText(status), status)
}
`))
	s.do("", s.shFails("go vet ./...", "# example.com/parcel-gateway/server\nserver/proxy.go:57:3: undefined: writeError\n"))
	s.do("`proxy.go` called the old helper. What did that one do?", s.sh("git show HEAD:server/proxy.go | sed -n '50,64p'", `	resp, err := p.transport.RoundTrip(out)
	if err != nil {
		// The body of the error is for our logs only.
		slog.Warn("upstream", "path", r.URL.Path, "error", err)
		// 401 and 504 are told as they are, see errors.go
		status := statusOf(err)
		metrics.Add("upstream_errors_total", 1)
		writeError(w, status)
		return
	}
	defer resp.Body.Close()
`), s.sh("git log -S'func writeError' --oneline -- server", "6ad3f10 server: move writeError to respond.go\n"))
	s.do("So `writeError` exists in respond.go on main but my editor script dropped that file's last function. Restoring it and calling it from the new one:", s.sh("git checkout server/respond.go && sed -i 's/http.Error(w, http.StatusText(status), status)/writeError(w, status)/' server/unavailable.go && sed -i '57s/writeError/writeStatus/' server/proxy.go && go vet ./... && git diff --stat", " server/errors.go      |  6 +++++-\n server/proxy.go       |  2 +-\n server/server_test.go | 31 ++++++++++++++++++++++++-------\n 3 files changed, 30 insertions(+), 9 deletions(-)\n"))
	s.do("", s.test("go test -v ./server ./auth", []string{"server", "auth"}))
	s.do("", s.edit("docs/auth.md", "that is down is not asked by every request. During that time clients get 401.", "that is down is not asked by every request. During that time clients get 503 with\n`Retry-After: 5`; 401 means that the provider refused our credentials."), s.edit("CHANGELOG.md", "however many requests wait for it.\n", "however many requests wait for it.\n- Clients get 503 with Retry-After, not 401, while the identity provider is down.\n"))
	s.do("", s.test("make check", allPackages))
	s.do("", s.sh("git add -A ':!NOTES.md' && git commit -m 'server: 503 with Retry-After while the identity provider is down'", "[refresh-retry e97b3c4] server: 503 with Retry-After while the identity provider is down\n 7 files changed, 58 insertions(+), 12 deletions(-)\n create mode 100644 server/unavailable.go\n"))
	s.say("Fourth commit: `e97b3c4`. I should say that a script of mine had removed `writeError` from respond.go for a moment; vet caught it, and the file is as it was on main.")
}
