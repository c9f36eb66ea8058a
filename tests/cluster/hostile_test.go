package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
)

// intruder is a client of its own making with the credentials of the laptop.
type intruder struct {
	c *client.Conn

	mu      sync.Mutex // guards all below
	refused []string
}

func newIntruder(t *testing.T, c *servers.Cluster) *intruder {
	t.Helper()
	o := c.Options(t, "laptop")
	x := &intruder{}
	var err error
	x.c, err = client.Connect(o.Servers[0], append(o.Auth, client.CustomInboxPrefix(nats.Inbox("laptop")),
		client.ErrorHandler(func(_ *client.Conn, _ *client.Subscription, err error) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.refused = append(x.refused, err.Error())
		}))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.c.Close)
	return x
}

// try sends a request and returns what comes back, "" if the servers refuse it. It fails the test if
// neither happens.
func (x *intruder) try(t *testing.T, subject, body string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	answer := make(chan string, 1)
	go func() {
		m, err := x.c.RequestMsgWithContext(ctx, &client.Msg{Subject: subject, Data: []byte(body)})
		if err == nil {
			answer <- m.Header.Get("Status") + string(m.Data)
		} else if errors.Is(err, client.ErrNoResponders) {
			answer <- "nobody answers"
		}
	}()
	for {
		select {
		case a := <-answer:
			return a
		case <-ctx.Done():
			t.Errorf("%s: neither an answer nor a refusal", subject)
			return "?"
		case <-time.After(10 * time.Millisecond):
			if x.wasRefused(subject) {
				return ""
			}
		}
	}
}

func (x *intruder) wasRefused(subject string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range x.refused {
		if strings.Contains(r, `"`+subject+`"`) {
			return true
		}
	}
	return false
}

// newVictim returns a session of u2000 with n records, whose keys are prefix0, prefix1, ..., with its writer and the
// last entry of its journal.
func newVictim(t *testing.T, e engine.Engine, prefix string, n int) (engine.Subject, *enginetest.Writer, engine.Entry) {
	t.Helper()
	s := enginetest.NewSession("u2000")
	w := enginetest.NewWriter(e, s, "a")
	for i := range n {
		if err := w.Append(t.Context(), fmt.Sprint(prefix, i)); err != nil {
			t.Fatal(err)
		}
	}
	last, err := e.Last(t.Context(), s, true)
	if err != nil {
		t.Fatal(err)
	}
	return s, w, last
}

// Whoever has the credentials of a host of one owner and a client of his own reads and writes nothing of
// another owner, by whatever request.
func TestAHostileHostReachesItsOwnersAlone(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	e := c.Open(t, "a")
	ctx := t.Context()
	victim, w, end := newVictim(t, e, "secret-", 5)
	if err := e.Objects().Put(ctx, engine.Key{Owner: "u2000", Name: "b/secret"}, []byte("secret-object")); err != nil {
		t.Fatal(err)
	}
	shard := fmt.Sprintf("%02x", victim.Shard())
	journal := "ctx.v1.j." + shard + ".u2000." + victim.Session
	stream := "CTXJ_" + shard
	own := "ctx.v1.j." + shard + ".u1000.*"
	x := newIntruder(t, c)

	t.Run("requests", func(t *testing.T) {
		consumer := func(filter string, more string) string {
			return fmt.Sprintf(`{"stream_name":%q,"config":{"name":"x","ack_policy":"none"%s%s}}`, stream, filter, more)
		}
		for _, r := range [][2]string{
			{journal, "forged"},
			{"ctx.v1.t.u2000", "forged"},
			{"ctx.v1.f." + shard + ".u2000." + victim.Session, "forged"},
			{"ctx.v1.o.u2000.c9h6e.0", "forged"},
			{"$JS.API.STREAM.MSG.GET." + stream, `{"last_by_subj":"` + journal + `"}`},
			{"$JS.API.DIRECT.GET." + stream, `{"last_by_subj":"` + journal + `"}`},
			{"$JS.API.DIRECT.GET." + stream, `{"seq":1}`},
			{"$JS.API.DIRECT.GET." + stream + "." + journal, ""},
			{"$JS.API.DIRECT.GET.CTXO.ctx.v1.o.u2000.*.0", ""},
			{"$JS.API.CONSUMER.CREATE." + stream + ".x." + journal, consumer(`,"filter_subject":"`+journal+`"`, "")},
			{"$JS.API.CONSUMER.CREATE." + stream + ".x", consumer("", "")},
			{"$JS.API.CONSUMER.CREATE." + stream, consumer("", "")},
			{"$JS.API.CONSUMER.DURABLE.CREATE." + stream + ".x", consumer(`,"filter_subject":"`+journal+`"`, `,"durable_name":"x"`)},
			{"$JS.API.CONSUMER.CREATE." + stream + ".x." + own, consumer(`,"filter_subject":"`+journal+`"`, "")},
			{"$JS.API.CONSUMER.CREATE." + stream + ".x." + own, consumer(`,"filter_subjects":["`+journal+`"]`, "")},
			{"$JS.API.CONSUMER.CREATE." + stream + ".x." + own, consumer(`,"filter_subject":"`+own+`","filter_subjects":["`+journal+`"]`, "")},
			{"$JS.API.CONSUMER.CREATE." + stream + ".x.ctx.v1.j.>", consumer(`,"filter_subject":"ctx.v1.j.>"`, "")},
			{"$JS.API.CONSUMER.NAMES." + stream, ""},
			{"$JS.API.CONSUMER.LIST." + stream, ""},
			{"$JS.API.STREAM.INFO." + stream, `{"subjects_filter":">"}`},
			{"$JS.API.STREAM.NAMES", ""},
			{"$JS.API.STREAM.PURGE." + stream, `{"filter":"` + journal + `"}`},
			{"$JS.API.STREAM.DELETE." + stream, ""},
			{"$JS.API.STREAM.UPDATE." + stream, `{"name":"` + stream + `"}`},
			{"$JS.API.STREAM.SNAPSHOT." + stream, `{"deliver_subject":"_INBOX.laptop.x"}`},
			{"$JS.API.STREAM.CREATE.MINE", `{"name":"MINE","sources":[{"name":"` + stream + `"}]}`},
			{"$JS.API.STREAM.MSG.DELETE." + stream, `{"seq":1}`},
			{"$JS.API.STREAM.LEADER.STEPDOWN." + stream, ""},
			{"$KV.CTX_META.statement", "{}"},
			{"$KV.CTX_HOSTS.a", "{}"},
			{"$SYS.REQ.SERVER.PING.JSZ", ""},
		} {
			got := x.try(t, r[0], r[1])
			var failed struct {
				Error *struct{} `json:"error"`
			}
			json.Unmarshal([]byte(got), &failed)
			if got != "" && failed.Error == nil {
				t.Errorf("%s %s: %.200s", r[0], r[1], got)
			}
			if strings.Contains(got, "secret") || strings.Contains(got, victim.Session) {
				t.Errorf("%s %s shows what is another's: %.200s", r[0], r[1], got)
			}
		}
	})
	t.Run("subscriptions", func(t *testing.T) {
		for _, s := range []string{">", "ctx.v1.>", "ctx.v1.f.>", "ctx.v1.f." + shard + ".u2000." + victim.Session, journal, "_INBOX.>", "_INBOX.a.>", "$JS.>", "$O.>", "$KV.CTX_META.>", "ctx.v1.h.a.>"} {
			sub, err := x.c.SubscribeSync(s)
			if err != nil {
				t.Fatal(err)
			}
			x.c.Flush()
			await(t, "a refusal of "+s, func() bool { return x.wasRefused(s) })
			sub.Unsubscribe()
		}
	})
	t.Run("what stands in the journal", func(t *testing.T) { theJournalIsWhole(t, e, victim, end.Seq, w.Keys()) })
}

// theJournalIsWhole fails the test if a journal does not end where it did, or has other records.
func theJournalIsWhole(t *testing.T, e engine.Engine, s engine.Subject, end uint64, want []string) {
	t.Helper()
	last, err := e.Last(t.Context(), s, true)
	if err != nil || last.Seq != end {
		t.Errorf("the journal ends at %d, %v, and ended at %d", last.Seq, err, end)
	}
	keys, err := enginetest.Journal(t.Context(), e, s)
	if err != nil || fmt.Sprint(keys) != fmt.Sprint(want) {
		t.Errorf("the journal has %q, %v, want %q", keys, err, want)
	}
}

// A client names the subject on which it wants an answer, and no server looks whether it may write there.
// So answers can be brought into the journal of another owner whose name is known. They are no entries
// of ours, and a journal goes on behind them.
func TestAnswersSentIntoAJournal(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	e := c.Open(t, "a")
	ctx := t.Context()
	victim, w, last := newVictim(t, e, "r", 3)
	x := newIntruder(t, c)
	journal := fmt.Sprintf("ctx.v1.j.%02x.u2000.%s", victim.Shard(), victim.Session)
	own := enginetest.NewSession("u1000")
	for own.Shard() == victim.Shard() { // a stream takes no answers of its own
		own = enginetest.NewSession("u1000")
	}
	stream := fmt.Sprintf("CTXJ_%02x", own.Shard())
	mine := fmt.Sprintf("ctx.v1.j.%02x.u1000.%s", own.Shard(), own.Session)
	for i, h := range []client.Header{ // as an entry of the journal is, as far as its own journal takes it
		{"Nats-Msg-Id": {"f1"}, "Ctx-I": {"3"}, "Ctx-Chain": {"x"}, "Nats-Expected-Stream": {stream}},
		{"Nats-Msg-Id": {"f2"}, "Ctx-I": {"3"}, "Ctx-Chain": {"x"}, "Nats-Subject": {journal}, "Nats-Stream": {stream}, "Nats-Sequence": {"4"}},
		{"Ctx-I": {"3"}, "Ctx-Chain": {"x"}},
	} {
		m := &client.Msg{Subject: mine, Data: []byte("R forged"), Header: h}
		if _, err := x.c.RequestMsg(m, 10*time.Second); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	create := fmt.Sprintf(`{"stream_name":%q,"config":{"name":"x","ack_policy":"none","filter_subject":%q}}`, stream, mine)
	if got := x.try(t, "$JS.API.CONSUMER.CREATE."+stream+".x."+mine, create); strings.Contains(got, `"error"`) || got == "" {
		t.Fatal(got)
	}
	arrived := func() (n int) {
		list, err := e.Read(ctx, victim, engine.Range{From: last.Seq + 1, Leader: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			if m.ID != "" {
				if string(m.Payload) != "R r3" {
					t.Errorf("%+v counts as an entry", m)
				}
			}
		}
		return len(list)
	}
	for _, m := range []*client.Msg{
		{Subject: mine, Data: []byte("more")},                                                // an acknowledgement
		{Subject: "$JS.API.DIRECT.GET." + stream + "." + mine},                               // a message with headers of its own choice
		{Subject: "$JS.API.CONSUMER.MSG.NEXT." + stream + ".x", Data: []byte(`{"batch":3}`)}, // the same without those of servers
		{Subject: "$JS.API.CONSUMER.CREATE." + stream + ".y." + mine, Data: []byte(create)},  // an answer of the API
	} {
		m.Reply = journal
		if err := x.c.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
		// The answer to a request behind it is an answer that came behind it.
		x.try(t, "$JS.API.DIRECT.GET."+stream+"."+mine, "")
	}
	push := strings.Replace(create, `"name":"x"`, `"name":"z","deliver_subject":"`+journal+`"`, 1)
	x.try(t, "$JS.API.CONSUMER.CREATE."+stream+".z."+mine, push)
	await(t, "an answer that was sent into the journal", func() bool { return arrived() > 0 })
	if err := w.Append(ctx, "r3"); err != nil {
		t.Errorf("the journal does not go on: %v", err)
	}
	t.Logf("%d messages that are no entries stand in the journal", arrived()-1)
	keys, err := enginetest.Journal(ctx, e, victim)
	if err != nil || fmt.Sprint(keys) != "[r0 r1 r2 r3]" {
		t.Errorf("the journal has %q, %v", keys, err)
	}
}
