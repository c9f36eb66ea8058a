package main

const systemPrompt = `You are a careful coding agent working on parcel-gateway, a Go service that
forwards parcel requests to carriers. You read before you edit, you run the
tests after every change, and you say plainly when something failed.

Follow AGENTS.md of the workspace. Ask when a decision is the user's to make.
Prefer the smallest change that solves the problem, and leave the code simpler
than you found it.
`

const pin = `# Rules the user pinned

- Never retry ` + "`invalid_grant`" + `: after three of them the provider locks the account.
- Secrets and tokens never reach a log, a test fixture or a commit message.
- The public signature of ` + "`auth.NewSource`" + ` stays as it is until 2.0.
`

const todo = `- [x] find out why clients get 401 for a minute after an outage
- [x] retry a refresh that failed for a passing reason
- [x] one refresh at a time, however many callers wait
- [x] make the number of retries configurable in gateway.toml
- [x] 503 instead of 401 when the provider is down
- [x] refresh a little before the token expires
- [ ] watch refresh_retries_total in staging for a day before the rollout
- [ ] remove the 401 alert exception from the dashboard
`

// tell runs the whole story.
func tell(s *scene) {
	investigate(s)
	retry(s)
	share(s)
	configure(s)
	nextMorning(s)
	leeway(s)
	finish(s)
	s.event("state", "state", "idle")
}

func investigate(s *scene) {
	s.user("Yesterday around 14:03 every client of the gateway got 401 for about a minute. The identity provider says they had a hiccup of *under a second*. Can you find out why a hiccup of theirs becomes a minute of ours, and fix it? The log of that time is in /var/log/gateway/2026-03-09T14.log.")
	s.do("I'll start with the rules of the workspace and its layout.", s.read("AGENTS.md"), s.list())
	s.do("Now the package that obtains tokens.", s.read("auth/client.go"), s.read("auth/refresh.go"))
	s.do("And what was logged at the time.", s.sh("sed -n '1,420p' /var/log/gateway/2026-03-09T14.log", s.accessLog(420)))
	s.do("", s.sh("grep -c 'status=401' /var/log/gateway/2026-03-09T14.log; grep 'no token' /var/log/gateway/2026-03-09T14.log | head -n 1; grep 'status=401' /var/log/gateway/2026-03-09T14.log | sed -n '1p;$p' | cut -c1-24",
		"117\n2026-03-09T14:03:21.344Z WARN no token path=/v1/parcels/pcl_481733 error=\"auth: identity provider answered 503: upstream connect error\" req=6c1f0a92\n2026-03-09T14:03:21.887Z\n2026-03-09T14:04:21.102Z\n"))
	s.do("The 401s last for almost exactly 60 seconds. That number stands in the code.", s.grep("negativeTTL|failedAt"))
	s.do("Who turns that failure into a 401?", s.grep("errNoToken|statusOf"), s.read("server/errors.go"), s.read("server/middleware.go"))
	s.do("", s.sh("git log --oneline -8 -- auth", "9d1c2e7 auth: remember failures for 60 s so that a dead provider is not hammered (#212)\n41be0f3 auth: Token carries its expiry\n0c77a58 auth: form-encode the client secret\n8830d1e auth: StatusError\ne2fa6b4 clock: Fake, for tests that need time to pass\n5b1d9aa auth: cache the token\n1f0c3c2 auth: fetch a token\n77e0d25 skeleton\n"),
		s.sh("git show --stat 9d1c2e7 | head -n 12", "commit 9d1c2e7b54d7\nAuthor: Mette Lund <mette@example.com>\nDate:   Tue Nov 18 16:20:41 2025 +0100\n\n    auth: remember failures for 60 s so that a dead provider is not hammered (#212)\n\n    On 14 November we sent 31,000 token requests in four minutes to a provider\n    that was down, and they rate-limited us for an hour afterwards.\n\n auth/refresh.go      | 14 ++++++++++++--\n auth/refresh_test.go | 19 +++++++++++++++++++\n"))
	s.say(`I found it. Three things add up:

1. At 14:03:21 one token request was answered with 503. Nothing retried it.
2. ` + "`auth/refresh.go`" + ` remembers a failure for 60 seconds (` + "`negativeTTL`" + `), whatever the failure was. For that minute no request even tries to get a token.
3. ` + "`server/errors.go`" + ` maps "no token" to 401, so clients believe that *their* credentials are wrong.

The memory of failures has a reason: commit 9d1c2e7 added it after we hammered a dead provider with 31,000 requests. So it should not simply go.

I suggest: retry a refresh that failed for a passing reason (5xx, network) with backoff; let one caller refresh while the others wait, which also ends the hammering; and answer 503 rather than 401 when the provider is down. May I go on?`)
	s.user("Great find. Yes to all three, one commit each please. Use exponential backoff, five retries. We already have a backoff package somewhere, so no new dependency.")
	s.do("", s.read("internal/backoff/backoff.go"), s.read("internal/clock/clock.go"), s.read("auth/refresh_test.go"))
	s.do("Before I change anything, the tests as they are now.", s.test("go test -v ./...", allPackages))
	s.say("All green before the change. One design point: the retry belongs in `auth.Source`, not in an `http.RoundTripper`. The source knows which failures may pass (`invalid_grant` must not be retried), has the clock that tests can turn, and every caller goes through it. I decided for that; tell me if you disagree.")
	s.decide("retry inside auth.Source, not in the HTTP transport")
	s.user("Agreed. Also, while you are at it: could you retry a 401 from the provider as well? We sometimes see those right after they deploy.")
	s.say("I can, but a 401 from the token endpoint usually means wrong client credentials, and repeated ones may lock the account. Do you know how the provider counts them?")
	s.user("Hm, good question. Mette says after three invalid_grant answers they lock us out for an hour. So forget what I said: never retry invalid_grant, and leave 401 alone too. I pinned that as a rule.")
	s.decide("never retry invalid_grant or 401 of the provider")
}

func retry(s *scene) {
	s.do("Noted: only 5xx, 429 and network errors are retried.",
		s.edit("auth/refresh.go", `func (s *Source) refresh(ctx context.Context) (Token, error) {
	now := s.clock.Now()
	tok, err := s.client.Fetch(ctx, now)

	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.failed, s.failedAt = err, now
		return Token{}, err
	}
	s.token, s.failed = tok, nil
	return tok, nil
}
`, `func (s *Source) refresh(ctx context.Context) (Token, error) {
	tok, err := s.fetch(ctx)

	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.failed, s.failedAt = err, s.clock.Now()
		return Token{}, err
	}
	s.token, s.failed = tok, nil
	return tok, nil
}

// retryMax is how often a fetch that failed for a passing reason is tried again.
const retryMax = 5

// wait is the time between two tries: 50 ms, 100 ms, ... with full jitter, at most 2 s.
var wait = backoff.Policy{Base: 50 * time.Millisecond, Max: 2 * time.Second}

// fetch asks the provider, again where that may help.
func (s *Source) fetch(ctx context.Context) (Token, error) {
	for attempt := 0; ; attempt++ {
		tok, err := s.client.Fetch(ctx, s.clock.Now())
		if err == nil || attempt == retryMax || !passing(err) {
			return tok, err
		}
		if err := s.clock.Sleep(ctx, wait.Wait(attempt)); err != nil {
			return Token{}, err
		}
	}
}
`))
	s.do("", s.create("auth/passing.go", `package auth

import (
	"context"
	"errors"
	"net/http"
)

// passing says whether a failure may be gone a moment later. Refused
// credentials never are: the provider locks an account after three of them.
func passing(err error) bool {
	var status *StatusError
	switch {
	case errors.Is(err, ErrInvalidGrant):
		return false
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.As(err, &status):
		return status.Code >= 500 || status.Code == http.StatusTooManyRequests
	}
	return true // the network
}
`))
	s.do("", s.shFails("go build ./...", "# example.com/parcel-gateway/auth\nauth/refresh.go:74:12: undefined: backoff\n"))
	s.do("I forgot the import.", s.edit("auth/refresh.go", `	"example.com/parcel-gateway/internal/clock"
`, `	"example.com/parcel-gateway/internal/backoff"
	"example.com/parcel-gateway/internal/clock"
`))
	s.do("", s.sh("go build ./... && go vet ./auth", ""))
	s.do("Now tests for what was agreed.", s.edit("auth/refresh_test.go", `func TestFailureIsRemembered(t *testing.T) {
	c, calls := provider(t, 503, 200)
	clk := clock.NewFake(time.Unix(1000, 0))
	s := NewSource(c, clk)
`, `func TestRefreshRetries503(t *testing.T) {
	c, calls := provider(t, 503, 503, 200)
	s := NewSource(c, clock.Fixed(time.Unix(1000, 0)))
	if _, err := s.Token(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := calls.Load(); n != 3 {
		t.Errorf("provider was asked %d times, want 3", n)
	}
}

func TestFailureIsRemembered(t *testing.T) {
	c, calls := provider(t, 401, 200)
	clk := clock.NewFake(time.Unix(1000, 0))
	s := NewSource(c, clk)
`))
	hang := `panic: test timed out after 30s
	running tests:
		TestRefreshExpired (30s)

goroutine 52 [select]:
example.com/parcel-gateway/internal/clock.(*Fake).Sleep(0xc00012e0c0, {0x8a3c10, 0xc2e0a0}, 0x2faf080)
	/src/parcel-gateway/internal/clock/clock.go:63 +0x145
example.com/parcel-gateway/auth.(*Source).fetch(0xc0000a6060, {0x8a3c10, 0xc2e0a0})
	/src/parcel-gateway/auth/refresh.go:82 +0x1b7
example.com/parcel-gateway/auth.(*Source).refresh(0xc0000a6060, {0x8a3c10, 0xc2e0a0})
	/src/parcel-gateway/auth/refresh.go:58 +0x5c
example.com/parcel-gateway/auth.TestRefreshExpired(0xc000102ea0)
	/src/parcel-gateway/auth/refresh_test.go:53 +0x1e5
`
	s.do("", s.edit("auth/refresh_test.go", `	c, calls := provider(t, 200)
	clk := clock.NewFake(time.Unix(1000, 0))
	s := NewSource(c, clk)
	s.Token(context.Background())
	clk.Advance(301 * time.Second)`, `	c, calls := provider(t, 200, 503, 200)
	clk := clock.NewFake(time.Unix(1000, 0))
	s := NewSource(c, clk)
	s.Token(context.Background())
	clk.Advance(301 * time.Second)`))
	s.do("", s.test("go test -v -timeout 30s ./auth ./internal/...", []string{"auth", "internal/backoff", "internal/clock"}, failure{"auth", "TestRefreshExpired", hang}))
	s.say("The new test passes, but TestRefreshExpired hangs: I made its provider fail once, so the source now sleeps on the fake clock, and nobody turns that clock while the test waits for `Token`. The code is right, the test has to turn the clock from another goroutine. Let me read the fake again before I choose how.")
	s.do("", s.readRange("internal/clock/clock.go", 41, 92))
	s.do("A helper that advances whenever somebody sleeps is better than a timed loop. The fake can offer it.", s.edit("internal/clock/clock.go", `// Advance turns the clock`, `// AutoAdvance makes every Sleep turn the clock itself and return at once.
func (f *Fake) AutoAdvance() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.auto = true
}

// Advance turns the clock`),
		s.edit("internal/clock/clock.go", `	waiters []waiter
}`, `	waiters []waiter
	auto    bool
}`))
	s.do("", s.editMissing("internal/clock/clock.go", `	w := waiter{at: f.now.Add(d), done: make(chan struct{})}
`, `	if f.auto {
		f.now = f.now.Add(d)
		f.mu.Unlock()
		return nil
	}
	w := waiter{at: f.now.Add(d), done: make(chan struct{})}
`))
	s.do("I misremembered that line; reading it again.", s.grep("w := waiter"))
	s.do("", s.edit("internal/clock/clock.go", `	w := waiter{f.now.Add(d), make(chan struct{})}
`, `	if f.auto {
		f.now = f.now.Add(d)
		f.mu.Unlock()
		return nil
	}
	w := waiter{f.now.Add(d), make(chan struct{})}
`), s.edit("auth/refresh_test.go", `	clk.Advance(301 * time.Second)
	if _, err := s.Token(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := calls.Load(); n != 2 {
		t.Errorf("provider was asked %d times, want 2", n)
	}`, `	clk.Advance(301 * time.Second)
	clk.AutoAdvance()
	if _, err := s.Token(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := calls.Load(); n != 3 {
		t.Errorf("provider was asked %d times, want 3", n)
	}`))
	s.do("", s.test("go test -v -timeout 30s ./auth ./internal/...", []string{"auth", "internal/backoff", "internal/clock"}))
	s.do("Green. One more test, for the rule you pinned.", s.edit("auth/refresh_test.go", `func TestFailureIsRemembered(t *testing.T) {`, `func TestInvalidGrantIsNotRetried(t *testing.T) {
	var calls atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusBadRequest)
		w.Write([]byte(`+"`"+`{"error":"invalid_grant"}`+"`"+`))
	}))
	t.Cleanup(srv.Close)
	s := NewSource(&Client{Endpoint: srv.URL, HTTP: srv.Client()}, clock.Fixed(time.Unix(1000, 0)))
	if _, err := s.Token(context.Background()); !errors.Is(err, ErrInvalidGrant) {
		t.Fatalf("got %v, want ErrInvalidGrant", err)
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("provider was asked %d times, want 1", n)
	}
}

func TestFailureIsRemembered(t *testing.T) {`))
	s.do("", s.test("go test -v ./auth", []string{"auth"}))
	s.do("The whole suite, as AGENTS.md asks.", s.test("make check", allPackages))
	s.do("", s.sh("git add -A && git commit -m 'auth: retry a refresh that failed for a passing reason'", "[refresh-retry 3f2a91c] auth: retry a refresh that failed for a passing reason\n 5 files changed, 104 insertions(+), 9 deletions(-)\n create mode 100644 auth/passing.go\n"))
	s.say("First commit is in: `3f2a91c`. A refresh is retried five times on 5xx, 429 and network errors, with full jitter from 50 ms up to 2 s; `invalid_grant` and 401 are not. Next is sharing one refresh between callers.")
}
