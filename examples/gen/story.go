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

func share(s *scene) {
	s.user("Looks good. How long can a caller wait in the worst case now? Our own clients give up after 10 s.")
	s.do("Let me compute it from the policy instead of guessing.", s.sh("go run ./internal/backoff/worst -base 50ms -max 2s -retries 5", "retry  max wait\n    0      50ms\n    1     100ms\n    2     200ms\n    3     400ms\n    4     800ms\ntotal    1.55s (mean 775ms)\n"), s.grep("Timeout"))
	s.say("The waits add up to 1.55 s at most. But each of the six tries may also take `auth.timeout`, 5 s by default: 31.5 s if the provider accepts connections and then says nothing. The context of the incoming request ends it earlier, and `fetch` stops on a cancelled context. So: 10 s for your clients, never more than their own deadline.")
	s.user("OK, the deadline is what counts. Go on.")
	s.do("The source again, as it is now.", s.read("auth/refresh.go"))
	s.do("I'll let the first caller lead and the others join its flight.", s.edit("auth/refresh.go", `	mu       sync.Mutex
	token    Token
	failed   error
	failedAt time.Time
}`, `	mu       sync.Mutex
	token    Token
	failed   error
	failedAt time.Time
	flight   *flight // the refresh that is under way, or nil
}

// flight is one refresh and those who wait for it.
type flight struct {
	done  chan struct{}
	token Token
	err   error
}`), s.edit("auth/refresh.go", `	s.mu.Lock()
	tok, failed, failedAt := s.token, s.failed, s.failedAt
	s.mu.Unlock()

	now := s.clock.Now()
	if tok.Value != "" && now.Before(tok.Expires) {
		return tok, nil
	}
	if failed != nil && now.Sub(failedAt) < negativeTTL {
		return Token{}, failed
	}
	return s.refresh(ctx)
}

func (s *Source) refresh(ctx context.Context) (Token, error) {
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
`, `	now := s.clock.Now()
	s.mu.Lock()
	if s.token.Value != "" && now.Before(s.token.Expires) {
		defer s.mu.Unlock()
		return s.token, nil
	}
	if s.failed != nil && now.Sub(s.failedAt) < negativeTTL {
		defer s.mu.Unlock()
		return Token{}, s.failed
	}
	if s.flight == nil {
		s.flight = &flight{done: make(chan struct{})}
		s.mu.Unlock()
		return s.lead(ctx)
	}
	s.mu.Unlock()
	return s.join(ctx)
}

// join waits for the refresh that another caller leads.
func (s *Source) join(ctx context.Context) (Token, error) {
	f := s.flight
	select {
	case <-f.done:
		return f.token, f.err
	case <-ctx.Done():
		return Token{}, ctx.Err()
	}
}

// lead refreshes for itself and for all who join meanwhile.
func (s *Source) lead(ctx context.Context) (Token, error) {
	tok, err := s.fetch(ctx)

	s.mu.Lock()
	f := s.flight
	s.flight = nil
	if err != nil {
		s.failed, s.failedAt = err, s.clock.Now()
	} else {
		s.token, s.failed = tok, nil
	}
	s.mu.Unlock()
	f.token, f.err = tok, err
	close(f.done)
	return tok, err
}
`))
	s.do("And a test with many callers.", s.edit("auth/refresh_test.go", `func TestInvalidGrantIsNotRetried`, `func TestConcurrentCallersShareOneRefresh(t *testing.T) {
	c, calls := provider(t, 503, 200)
	s := NewSource(c, clock.Real{})
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, err := s.Token(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := calls.Load(); n != 2 {
		t.Errorf("provider was asked %d times, want 2", n)
	}
}

func TestInvalidGrantIsNotRetried`), s.edit("auth/refresh_test.go", `	"net/http/httptest"
	"sync/atomic"`, `	"net/http/httptest"
	"sync"
	"sync/atomic"`))
	s.do("", s.test("go test -v ./auth", []string{"auth"}))
	s.do("Passing, but this is exactly the kind of code that passes by luck. With the race detector:", s.shFails("go test -race ./auth", raceReport))
	s.say("Good that I looked: `join` reads `s.flight` after the lock was released, while the leader of that flight sets it to nil. In the worst case `f` is nil and a caller panics. The flight has to be taken under the lock and handed to join and lead.")
	s.do("", s.edit("auth/refresh.go", `	if s.flight == nil {
		s.flight = &flight{done: make(chan struct{})}
		s.mu.Unlock()
		return s.lead(ctx)
	}
	s.mu.Unlock()
	return s.join(ctx)
}`, `	f := s.flight
	leads := f == nil
	if leads {
		f = &flight{done: make(chan struct{})}
		s.flight = f
	}
	s.mu.Unlock()
	if leads {
		return s.lead(ctx, f)
	}
	return f.join(ctx)
}`), s.edit("auth/refresh.go", `func (s *Source) join(ctx context.Context) (Token, error) {
	f := s.flight
	select {`, `func (f *flight) join(ctx context.Context) (Token, error) {
	select {`), s.edit("auth/refresh.go", `func (s *Source) lead(ctx context.Context) (Token, error) {
	tok, err := s.fetch(ctx)

	s.mu.Lock()
	f := s.flight
	s.flight = nil`, `func (s *Source) lead(ctx context.Context, f *flight) (Token, error) {
	tok, err := s.fetch(ctx)

	s.mu.Lock()
	s.flight = nil`))
	s.do("", s.sh("go test -race -count=20 ./auth", "ok  \texample.com/parcel-gateway/auth\t6.204s\n"))
	s.do("Twenty runs are quiet. Two hundred, to be sure:", s.shFails("go test -race -v -count=200 -run TestConcurrentCallersShareOneRefresh ./auth",
		s.flakes("TestConcurrentCallersShareOneRefresh", "    refresh_test.go:129: provider was asked 3 times, want 2\n", 200, 67)))
	s.say(`Three failures in 200, always "asked 3 times, want 2". That is no race in the code: a caller that starts late, after the flight has landed with a 503 given up... no, wait, the retries do not give up here. Let me think about who asks a third time.`)
	s.do("", s.readRange("auth/refresh.go", 44, 112))
	s.say("I see it. The leader clears `s.flight` and stores the token under one lock, that part is sound. But the leader may be *cancelled*: no, the test uses Background. The third request comes from the HTTP client: the test server closes idle connections, and `net/http` retries a POST on a reused connection that was closed before any byte was answered only if it is idempotent... ours is not. So it must be the counter: `provider` counts before it answers, and `statuses[min(n, len)-1]` with n = 3 means that three requests arrived.\n\nI would rather see it than argue. I'll log each request with the number of the goroutine's flight.")
	s.do("", s.sh("go test -race -v -count=400 -run TestConcurrentCallersShareOneRefresh ./auth -args -trace-flights 2>&1 | grep -B4 'asked 3' | head -n 12",
		"    trace.go:14: flight 1 leads at 1.03ms\n    trace.go:22: flight 1 landed at 41.77ms, expires 1970-01-01T00:00:00Z\n    trace.go:14: flight 2 leads at 41.79ms\n    trace.go:22: flight 2 landed at 42.60ms, expires 2026-03-10T10:31:05Z\n    refresh_test.go:129: provider was asked 3 times, want 2\n"))
	s.say("There: flight 1 landed with an *empty* token and no error. Its expiry is the zero time, so the next caller refreshed again. When the provider sends 200 and the connection breaks while the body is read, `Decode` fails, and `client.go` line 68 ignores that error unless the status is 200... it does handle 200. Then it is the other branch: `resp.StatusCode` 503 with a body that is not JSON.")
	s.do("", s.readRange("auth/client.go", 44, 82), s.sh("go test -race -v -count=400 -run TestConcurrentCallersShareOneRefresh ./auth -args -trace-bodies 2>&1 | grep -m3 'body'", "    trace.go:31: status=503 body=\"\" decode=EOF\n    trace.go:31: status=200 body=\"{\\\"access_token\\\":\\\"t1\\\",\\\"expires_in\\\":300}\" decode=<nil>\n    trace.go:31: status=200 body=\"\" decode=EOF\n"))
	s.say("The last line is the cause: the *test server* once answered 200 with an empty body. `provider` calls `w.WriteHeader(status)` and then writes, and `t.Cleanup(srv.Close)` of the previous run cuts a connection that the shared default transport still held. It is the test's fault, but it shows a true gap: a 200 without a token must be an error, not an empty token. I'll fix both.")
	s.do("", s.edit("auth/client.go", `	case resp.StatusCode != http.StatusOK:
		return Token{}, &StatusError{Code: resp.StatusCode, Body: body.Error}
	}`, `	case resp.StatusCode != http.StatusOK:
		return Token{}, &StatusError{Code: resp.StatusCode, Body: body.Error}
	case body.AccessToken == "" || body.ExpiresIn <= 0:
		return Token{}, ErrNoToken
	}`), s.edit("auth/client.go", `// StatusError is an answer`, `// ErrNoToken means that the provider said 200 and sent no token.
var ErrNoToken = errors.New("auth: answer without a token")

// StatusError is an answer`), s.edit("auth/refresh_test.go", `	return &Client{Endpoint: srv.URL, HTTP: srv.Client()}, &calls
}`, `	transport := &http.Transport{DisableKeepAlives: true}
	return &Client{Endpoint: srv.URL, HTTP: &http.Client{Transport: transport}}, &calls
}`))
	s.do("", s.sh("go test -race -count=1000 -run 'TestConcurrent|TestRefresh' ./auth", "ok  \texample.com/parcel-gateway/auth\t41.930s\n"))
	s.do("A thousand runs. Now everything.", s.test("make check", allPackages))
	s.do("", s.sh("git add -A && git commit -m 'auth: one refresh at a time, however many callers wait'", "[refresh-retry b80d417] auth: one refresh at a time, however many callers wait\n 3 files changed, 71 insertions(+), 21 deletions(-)\n"))
	s.decide("a 200 without a token is an error (auth.ErrNoToken)")
	s.say("Second commit: `b80d417`. Fifty callers now cause one refresh. On the way I found that an answer with status 200 and no token was cached as an empty token that had already expired; it is `auth.ErrNoToken` now and counts as passing.")
}
