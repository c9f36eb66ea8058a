package main

func leeway(s *scene) {
	s.user("Now the early refresh. We do see single 401s from carriers every five minutes or so, I think at the moment a token expires. What would you do?")
	s.do("Let me look for them in the log first.", s.sh("grep 'status=401' /var/log/gateway/2026-03-10T*.log | grep -v ' ms=0 ' | cut -d' ' -f1,4,6,7 | head -n 14",
		"2026-03-10T06:00:03.118Z /v1/rates carrier=dpd status=401\n2026-03-10T06:05:03.402Z /v1/parcels carrier=dhl status=401\n2026-03-10T06:10:03.377Z /v1/parcels carrier=dhl status=401\n2026-03-10T06:15:03.911Z /v1/rates carrier=postnord status=401\n2026-03-10T06:20:04.006Z /v1/parcels/pcl_481990 carrier=dpd status=401\n2026-03-10T06:25:04.130Z /v1/parcels carrier=dhl status=401\n2026-03-10T06:30:04.255Z /v1/parcels carrier=dpd status=401\n2026-03-10T06:35:04.311Z /v1/rates carrier=dhl status=401\n2026-03-10T06:40:04.540Z /v1/parcels/pcl_482013/label carrier=postnord status=401\n2026-03-10T06:45:04.702Z /v1/parcels carrier=dhl status=401\n2026-03-10T06:50:04.688Z /v1/parcels carrier=dhl status=401\n2026-03-10T06:55:04.873Z /v1/rates carrier=dpd status=401\n2026-03-10T07:00:05.019Z /v1/parcels carrier=dpd status=401\n2026-03-10T07:05:05.140Z /v1/parcels carrier=dhl status=401\n"),
		s.sh("chronyc tracking | grep -E 'System time|Leap'", "System time     : 0.000213 seconds slow of NTP time\nLeap status     : Normal\n"))
	s.say("Every 300 seconds plus a little: once a token's life, as you suspected. Our clock is right to a fifth of a millisecond, so it is the time between the provider's stamp and the carrier's check: `Expires` is computed from *our* clock before the request is sent back, so we believe in a token up to one round trip longer than the carrier does. A leeway of 30 seconds cures it: a token is used until 30 s before it expires.\n\nA refresh in the background would also save the waiting request its 40 ms, but needs a goroutine with an owner. I'd take the leeway only.")
	s.user("Leeway only, and a separate commit. Would 10 s not be enough?")
	s.do("", s.sh("awk '/token fetched/ {print $NF}' /var/log/gateway/2026-03-10T*.log | sort -n | awk '{a[NR]=$1} END {print \"n=\" NR, \"p50=\" a[int(NR*.5)], \"p99=\" a[int(NR*.99)], \"max=\" a[NR]}'", "n=288 p50=41ms p99=380ms max=6120ms\n"))
	s.say("The slowest fetch of the last day took 6.1 s, so 10 s is enough for the round trip alone. 30 s would cover a slow upload of a label batch as well (up to 25 s, see `labels`): the carrier checks the token when the upload *ends*. I'd stay with 30; tokens live 300 s, so it costs one fetch in ten.")
	s.user("Convinced. 30.")
	s.decide("tokens are used until 30 s before they expire")
	s.do("", s.readRange("auth/refresh.go", 1, 70))
	s.do("", s.edit("auth/refresh.go", `// negativeTTL is how long a failed refresh is remembered.
const negativeTTL = 60 * time.Second
`, `const (
	// negativeTTL is how long a failed refresh is remembered.
	negativeTTL = 60 * time.Second
	// leeway is how long before its end a token is not used any more: for the
	// way of the answer to us, and for uploads at whose end a carrier checks it.
	leeway = 30 * time.Second
)
`), s.edit("auth/refresh.go", `now.Before(s.token.Expires) {`, `now.Before(s.token.Expires.Add(-leeway)) {`))
	s.do("", s.test("go test -v ./auth", []string{"auth"}))
	s.do("No test fails, so none looked at the edge. One that does:", s.edit("auth/refresh_test.go", `func TestInvalidGrantIsNotRetried`, `func TestTokenIsNotUsedInItsLastSeconds(t *testing.T) {
	for _, tt := range []struct {
		after time.Duration
		want  int32
	}{
		{269 * time.Second, 1},
		{270 * time.Second, 2},
		{299 * time.Second, 2},
	} {
		c, calls := provider(t, 200)
		clk := clock.NewFake(time.Unix(1000, 0))
		s := NewSource(c, clk)
		s.Token(context.Background())
		clk.Advance(tt.after)
		s.Token(context.Background())
		if n := calls.Load(); n != tt.want {
			t.Errorf("after %s: provider was asked %d times, want %d", tt.after, n, tt.want)
		}
	}
}

func TestInvalidGrantIsNotRetried`))
	s.do("", s.test("go test -v ./auth", []string{"auth"}))
	s.do("What if a provider hands out tokens that live shorter than 30 s? Then every request would refresh.", s.sh("grep -rn 'expires_in' testdata/providers | sort -t: -k4 -n | head -n 5", "testdata/providers/sandbox.json:4:  \"expires_in\": 20,\ntestdata/providers/main.json:4:  \"expires_in\": 300,\ntestdata/providers/legacy.json:4:  \"expires_in\": 3600,\n"))
	s.say("The sandbox provider does exactly that: 20 s. With a leeway of 30 s the gateway would ask it at every request. The leeway has to be bounded by the token's life: at most a tenth of it.")
	s.do("", s.edit("auth/refresh.go", `now.Before(s.token.Expires.Add(-leeway)) {`, `now.Before(s.token.usableUntil()) {`), s.edit("auth/client.go", `type Token struct {
	Value   string
	Expires time.Time
}
`, `type Token struct {
	Value   string
	Expires time.Time
	life    time.Duration // as the provider gave it
}

// usableUntil is the moment from which t is refreshed: the leeway before it
// expires, but a tenth of its life before at most.
func (t Token) usableUntil() time.Time {
	return t.Expires.Add(-min(leeway, t.life/10))
}
`), s.edit("auth/client.go", `	return Token{Value: body.AccessToken, Expires: now.Add(time.Duration(body.ExpiresIn) * time.Second)}, nil`, `	life := time.Duration(body.ExpiresIn) * time.Second
	return Token{Value: body.AccessToken, Expires: now.Add(life), life: life}, nil`))
	s.do("", s.test("go test -v ./auth ./server", []string{"auth", "server"}))
	s.do("", s.edit("CHANGELOG.md", "while the identity provider is down.\n", "while the identity provider is down.\n- A token is refreshed 30 seconds before it expires (a tenth of its life at most).\n"), s.edit("docs/auth.md", "again when it has expired.", "again 30 seconds before it expires (a tenth of its life, if that is less)."))
	s.do("", s.sh("make check && git add -A ':!NOTES.md' && git commit -m 'auth: do not use a token in its last 30 seconds'", "ok  \texample.com/parcel-gateway/auth\t0.611s\nok  \texample.com/parcel-gateway/carriers/dhl\t(cached)\nok  \texample.com/parcel-gateway/carriers/dpd\t(cached)\nok  \texample.com/parcel-gateway/carriers/postnord\t(cached)\nok  \texample.com/parcel-gateway/config\t(cached)\nok  \texample.com/parcel-gateway/internal/backoff\t(cached)\nok  \texample.com/parcel-gateway/internal/clock\t(cached)\nok  \texample.com/parcel-gateway/labels\t(cached)\nok  \texample.com/parcel-gateway/server\t1.202s\n[refresh-retry 0ab5f16] auth: do not use a token in its last 30 seconds\n 5 files changed, 49 insertions(+), 6 deletions(-)\n"))
	s.say("Fifth commit: `0ab5f16`. The test at the edge fails with a leeway of zero, so it is worth its lines.")
}

func finish(s *scene) {
	s.user("Then the metric. Operations asks for the number of retries, and how many requests waited for somebody else's refresh.")
	s.do("", s.read("server/metrics.go"), s.read("auth/refresh.go"), s.grep(`metrics\.Add|Metrics`))
	s.say("`auth` must not import `server`, where Metrics lives. The smallest thing that works: `Source` gets an optional `Count func(name string, n int64)`, main.go passes `metrics.Add`. Names: `auth_refreshes_total`, `auth_retries_total`, `auth_coalesced_total`.")
	s.user("Please call the second one refresh_retries_total, that is what the dashboard people already wrote down. The other two as you like.")
	s.do("", s.edit("auth/refresh.go", `	client *Client
	clock  clock.Clock

	mu `, `	// Count, when it is not nil, is told of refreshes_total,
	// refresh_retries_total and refresh_coalesced_total.
	Count func(name string, n int64)

	client *Client
	clock  clock.Clock

	mu `), s.edit("auth/refresh.go", `// fetch asks the provider`, `func (s *Source) count(name string) {
	if s.Count != nil {
		s.Count(name, 1)
	}
}

// fetch asks the provider`), s.edit("auth/refresh.go", `		if err := s.clock.Sleep(ctx, wait.Wait(attempt)); err != nil {`, `		s.count("refresh_retries_total")
		if err := s.clock.Sleep(ctx, wait.Wait(attempt)); err != nil {`), s.edit("auth/refresh.go", `	return f.join(ctx)
}`, `	s.count("refresh_coalesced_total")
	return f.join(ctx)
}`), s.edit("auth/refresh.go", `	tok, err := s.fetch(ctx)

	s.mu.Lock()
	s.flight = nil`, `	s.count("refreshes_total")
	tok, err := s.fetch(ctx)

	s.mu.Lock()
	s.flight = nil`))
	s.do("", s.edit("auth/refresh_test.go", `func TestInvalidGrantIsNotRetried`, `func TestCounts(t *testing.T) {
	c, _ := provider(t, 503, 503, 200)
	s := NewSource(c, clock.Fixed(time.Unix(1000, 0)))
	counts := map[string]int64{}
	s.Count = func(name string, n int64) { counts[name] += n }
	s.Token(context.Background())
	if counts["refreshes_total"] != 1 || counts["refresh_retries_total"] != 2 {
		t.Errorf("counts are %v, want 1 refresh and 2 retries", counts)
	}
}

func TestInvalidGrantIsNotRetried`), s.edit("cmd/gateway/main.go", `	source.RetryMax = cfg.Auth.RefreshRetryMax
`, `	source.RetryMax = cfg.Auth.RefreshRetryMax
	source.Count = server.Counters.Add
`))
	s.do("", s.shFails("go build ./...", "# example.com/parcel-gateway/cmd/gateway\ncmd/gateway/main.go:41:24: undefined: server.Counters\n"))
	s.do("", s.sh("grep -rn 'metrics ' server/*.go | head -n 4", "server/proxy.go:19:var metrics Metrics\nserver/routes.go:33:\tmux.Handle(\"GET /metrics\", &metrics)\nserver/shutdown.go:12:\t// metrics are written once more\n"))
	s.do("It is unexported. Exporting a function is less than exporting the variable.", s.edit("server/metrics.go", `// Add adds n to the counter`, `// Count adds n to a counter of the gateway's own metrics.
func Count(name string, n int64) { metrics.Add(name, n) }

// Add adds n to the counter`), s.edit("cmd/gateway/main.go", `server.Counters.Add`, `server.Count`))
	s.do("", s.test("make check", allPackages))
	s.do("And under load: the load generator of the repository, sixty minutes in fast motion, with the provider down for four of them.", s.sh("go run ./tools/soak -minutes 60 -outage 22:4 -speed 120", s.soak(60, 22, 4)))
	s.say("Not one 401 in 60 minutes, during the outage neither: p99 rose to about 2.5 s while it lasted, and between 300 and 500 requests a minute waited for one shared refresh. Before the change the same run gave 5,900 answers with 401.")
	s.do("", s.sh("git add -A ':!NOTES.md' && git commit -m 'auth: count refreshes, retries and shared waits'", "[refresh-retry c41d7e8] auth: count refreshes, retries and shared waits\n 4 files changed, 44 insertions(+)\n"))
	s.user("Is there anything in these commits you are not happy with?")
	s.do("Let me read the whole change once more with that question in mind.", s.read("auth/refresh.go"), s.read("auth/client.go"), s.read("auth/passing.go"))
	s.say("Two things:\n\n1. When the *leader's* client hangs up, its context ends, the fetch is cancelled, and everybody who joined gets `context canceled` although their own requests are alive. The refresh should not depend on the leader's context.\n2. `negativeTTL` also remembers that cancellation for 60 seconds. That is the original bug in another dress.\n\nI should have seen both earlier. The first needs `context.WithoutCancel` and a deadline of its own, the second: cancellations are not remembered.")
	s.user("Good that I asked! Please fix both, with tests that fail first.")
	s.do("The tests first.", s.edit("auth/refresh_test.go", `func TestCounts(t *testing.T) {`, `func TestLeaderHangsUpOthersGetTheirToken(t *testing.T) {
	arrived, answer := make(chan struct{}), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-answer
		w.Write([]byte(`+"`"+`{"access_token":"t1","expires_in":300}`+"`"+`))
	}))
	t.Cleanup(srv.Close)
	s := NewSource(&Client{Endpoint: srv.URL, HTTP: srv.Client()}, clock.Real{})

	leader, hangUp := context.WithCancel(context.Background())
	go s.Token(leader)
	<-arrived
	hangUp()
	close(answer)
	if _, err := s.Token(context.Background()); err != nil {
		t.Errorf("the caller that did not hang up got %v", err)
	}
}

func TestCounts(t *testing.T) {`))
	s.do("", s.test("go test -v ./auth", []string{"auth"}, failure{"auth", "TestLeaderHangsUpOthersGetTheirToken", "    refresh_test.go:171: the caller that did not hang up got Post \"http://127.0.0.1:40213\": context canceled\n"}))
	s.do("It fails as predicted. Now the change.", s.edit("auth/refresh.go", `	s.mu.Unlock()
	if leads {
		return s.lead(ctx, f)
	}
	s.count("refresh_coalesced_total")
	return f.join(ctx)
}`, `	s.mu.Unlock()
	if leads {
		// The refresh goes on when this caller hangs up: others may wait for it.
		go s.lead(context.WithoutCancel(ctx), f)
	} else {
		s.count("refresh_coalesced_total")
	}
	return f.join(ctx)
}`), s.edit("auth/refresh.go", `// lead refreshes for itself and for all who join meanwhile.
func (s *Source) lead(ctx context.Context, f *flight) (Token, error) {
	s.count("refreshes_total")`, `// refreshLimit ends a refresh whose provider accepts requests and never answers.
const refreshLimit = 20 * time.Second

// lead refreshes for all who join. It ends within refreshLimit.
func (s *Source) lead(ctx context.Context, f *flight) {
	ctx, cancel := context.WithTimeout(ctx, refreshLimit)
	defer cancel()
	s.count("refreshes_total")`), s.edit("auth/refresh.go", `	f.token, f.err = tok, err
	close(f.done)
	return tok, err
}`, `	f.token, f.err = tok, err
	close(f.done)
}`))
	s.do("", s.test("go test -v ./auth", []string{"auth"}), s.sh("go test -race -count=300 ./auth", "ok  \texample.com/parcel-gateway/auth\t58.310s\n"))
	s.say("Both are fixed by the same change: the refresh has a context of its own, so a client that hangs up cancels nothing, and no cancellation can be remembered. AGENTS.md says nothing about goroutines, but this one ends within 20 s at most and everybody who needs it waits for it.")
	s.do("", s.test("make check", allPackages))
	s.do("", s.sh("git add -A ':!NOTES.md' && git commit -m 'auth: a refresh survives the caller that started it'", "[refresh-retry 7be2d09] auth: a refresh survives the caller that started it\n 2 files changed, 36 insertions(+), 9 deletions(-)\n"))
	s.user("Thanks. How would we roll this back if it misbehaves in production? Not that I expect it.")
	s.do("", s.sh("git diff --stat 9d1c2e7..HEAD | tail -n 14", " CHANGELOG.md                   |   4 ++\n auth/client.go                 |  23 +++++-\n auth/passing.go                |  24 ++++++\n auth/refresh.go                | 121 +++++++++++++++++++++++-----\n auth/refresh_test.go           | 142 ++++++++++++++++++++++++++++++++-\n cmd/gateway/main.go            |   2 +\n config/config.go               |   8 +-\n config/parse.go                |   2 +\n config/retry_test.go           |  38 +++++++++\n docs/auth.md                   |  15 +++-\n internal/clock/clock.go        |  14 ++++\n server/errors.go               |   6 +-\n server/metrics.go              |   3 +\n 13 files changed, 368 insertions(+), 34 deletions(-)\n"), s.sh("cat deploy/README.md | sed -n '/Rollback/,/^$/p'", "## Rollback\nRelease images are kept for 90 days: `deploy rollback gateway 1.14.0`. Configuration is\nversioned with the image; a gateway refuses to start on a key it does not know.\n\n"))
	s.say("`deploy rollback gateway 1.14.0`, with one catch: 1.14.0 refuses to start on `auth.refresh_retry_max`, because unknown keys are errors. So leave the key out of production's gateway.toml for the first week (the default of 3 is what you want anyway). To switch off only the retries without a rollback, set it to 0 and restart.")
	s.user("Perfect, put that into the changelog entry. And write me a text for the pull request, short.")
	s.do("", s.edit("CHANGELOG.md", "(`auth.refresh_retry_max`, default 3).\n", "(`auth.refresh_retry_max`, default 3).\n  Leave the key out until a rollback to 1.14.0 is no longer wanted: 1.14.0 does not start with it.\n"), s.sh("git add CHANGELOG.md && git commit -m 'changelog: how to roll back'", "[refresh-retry 2d90b3a] changelog: how to roll back\n 1 file changed, 1 insertion(+)\n"))
	s.say(`# Token refresh: survive a hiccup of the identity provider

A 503 of under a second became a minute of 401s, because one failed refresh was remembered for 60 s whatever its reason, and "no token" was told to clients as 401.

- passing failures (5xx, 429, network, 200 without a token) are retried, 3 times by default: ` + "`auth.refresh_retry_max`" + `; ` + "`invalid_grant`" + ` and 401 never
- one refresh at a time; it survives the caller that started it
- clients get 503 with Retry-After while the provider is down
- tokens are not used in their last 30 s, which ends the single 401s every five minutes
- counters: refreshes_total, refresh_retries_total, refresh_coalesced_total

Soak: 60 minutes with a four-minute outage, no 401 (before: 5,900). Race detector: 300 runs. Rollback: see CHANGELOG.`)
	s.user("Merged, thank you. Two things stay open for me: watching refresh_retries_total in staging for a day, and removing the 401 exception from the alert. Please keep them in the todo list; we will look at them together on Thursday.")
	s.do("", s.create("NOTES.md", "# Open, for Thursday\n- watch refresh_retries_total in staging for a day before the rollout\n- remove the 401 exception from the alert\n"))
	s.say("Both are in the todo list and in NOTES.md. When we look at staging on Thursday, the number to compare with is one refresh every 270 seconds and instance; more than two retries an hour would mean that the provider is worse than they say.")
}
