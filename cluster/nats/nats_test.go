package nats

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

var session = strings.Repeat("0123456789abcdef", 2)

// The names are a format: what is stored under one is not found under another.
func TestNamesStay(t *testing.T) {
	s := engine.Subject{Owner: "u1000", Session: session}
	key := engine.Key{Owner: "svk0", Name: "p/0f-1.zst"}
	for got, want := range map[string]string{
		stream(s.Shard()):                        "CTXJ_0e",
		stream(engine.OwnerShard):                "CTXT",
		subject(s):                               "ctx.v1.j.0e.u1000." + session,
		republished(s):                           "ctx.v1.f.0e.u1000." + session,
		objectSubject(key, "3"):                  "ctx.v1.o.svk0.e0nj0phd64n7ksrk.3",
		subject(engine.Subject{Owner: "u0"}):     "ctx.v1.t.u0",
		republished(engine.Subject{Owner: "u0"}): "ctx.v1.f.t.u0",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if name, ok := objectName(objectSubject(key, "0")); !ok || name != key.Name {
		t.Errorf("the object of a subject is %q, %v", name, ok)
	}
}

func TestVersions(t *testing.T) {
	for v, want := range map[string]bool{
		"2.15.2": true, "2.15.10": true, "2.16.0": true, "3.0.0": true, "2.15.1": false, "2.14.9": false, "1.99.99": false,
		"2.15.2-RC.1": false, "2.15.3-RC.1": true, "": false, "dev": false,
	} {
		if atLeast(v, minVersion) != want {
			t.Errorf("%q: %v", v, !want)
		}
	}
}

func TestAddressesOfThisMachine(t *testing.T) {
	for u, want := range map[string]bool{
		"nats://127.0.0.1:4222": true, "tls://localhost:1": true, "nats://[::1]:4222": true, "nats://127.9.9.9:1": true,
		"nats://10.0.0.1:4222": false, "nats://example.org:4222": false, "nats://0.0.0.0:4222": false, "": false,
	} {
		if loopback(u) != want {
			t.Errorf("%q: %v", u, !want)
		}
	}
}

// A setting that a stream needs and has not is found, each one.
func TestSettingsOfStreams(t *testing.T) {
	for _, want := range configs(Share{}.limits()) {
		if d := want.differences(want); d != nil {
			t.Errorf("%s differs from itself: %q", want.Name, d)
		}
	}
	want := configs(Share{})[4]
	for name, change := range map[string]func(*config){
		"num_replicas": func(c *config) { c.Replicas = 1 }, "discard": func(c *config) { c.Discard = "old" }, "max_age": func(c *config) { c.MaxAge = 1 },
		"storage": func(c *config) { c.Storage = "memory" }, "allow_direct": func(c *config) { c.Direct = false }, "deny_delete": func(c *config) { c.DenyDelete = false },
		"duplicate_window": func(c *config) { c.Duplicates = 1 }, "persist_mode": func(c *config) { c.PersistMode = "async" }, "republish": func(c *config) { c.RePublish = nil },
		"subjects": func(c *config) { c.Subjects = nil }, "retention": func(c *config) { c.Retention = "interest" }, "max_msgs": func(c *config) { c.MaxMsgs = 10 },
		"max_msgs_per_subject": func(c *config) { c.PerSubject = 1 }, "sealed": func(c *config) { c.Sealed = true }, "no_ack": func(c *config) { c.NoAck = true },
		"max_msg_size": func(c *config) { c.MaxSize = 100 }, "allow_rollup_hdrs": func(c *config) { c.Rollup = true },
	} {
		is := want
		change(&is)
		if d := want.differences(is); len(d) != 1 || !strings.HasPrefix(d[0], name+" ") {
			t.Errorf("%s: %q", name, d)
		}
	}
	more := want
	more.Replicas, more.Duplicates, more.MaxBytes = 5, 2*want.Duplicates, 1<<30
	if d := want.differences(more); d != nil {
		t.Errorf("what is more than needed: %q", d)
	}
}

func TestRefusalsReachWhoWaits(t *testing.T) {
	var d denials
	a, unwatch := d.watch("ctx.v1.j.00.u1.x")
	b, _ := d.watch("ctx.v1.j.00.u1.x")
	other, _ := d.watch("ctx.v1.j.00.u1")
	unwatch()
	d.note(errors.New("anything"))
	d.note(errors.New(`nats: permissions violation: Permissions Violation for Publish to "ctx.v1.j.00.u1.x"`))
	select {
	case <-b:
	default:
		t.Error("who waits does not know")
	}
	for _, c := range []<-chan struct{}{a, other} {
		select {
		case <-c:
			t.Error("somebody else is told")
		default:
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		subject, pattern string
		want             bool
	}{
		{"a.b.c", "a.b.c", true}, {"a.b.c", "a.*.c", true}, {"a.b.c", "a.*", false}, {"a.b", "a.b.c", false}, {"a.b.c", "*.*.*", true}, {"a.x.c", "a.b.*", false},
	} {
		if matches(c.subject, c.pattern) != c.want {
			t.Errorf("%q and %q: %v", c.subject, c.pattern, !c.want)
		}
	}
}

// Only what store makes, as servers hand it out, counts as an entry.
func TestEntriesOfOthersAreNone(t *testing.T) {
	ours := client.Header{"Nats-Msg-Id": {"id"}, "Nats-Expected-Stream": {"S"}, "Nats-Expected-Last-Subject-Sequence": {"4"}, "Ctx-I": {"3"}}
	handed := client.Header{"Nats-Stream": {"S"}, "Nats-Subject": {"x"}, "Nats-Sequence": {"7"}}
	with := func(hs ...client.Header) client.Header {
		all := client.Header{}
		for _, h := range hs {
			for name, values := range h {
				all[name] = append(slices.Clone(all[name]), values...)
			}
		}
		return all
	}
	without := func(name string) client.Header { h := with(ours); delete(h, name); return h }
	for i, c := range []struct {
		h     client.Header
		added int
		want  string
	}{
		{ours, 0, "id"}, {with(ours, handed), 1, "id"},
		{with(ours, handed), 0, ""}, {ours, 1, ""}, {with(ours, handed, handed), 1, ""}, {with(ours, client.Header{"Nats-Subject": {"y"}}, handed), 1, ""},
		{without("Nats-Msg-Id"), 0, ""}, {without("Nats-Expected-Stream"), 0, ""}, {without("Nats-Expected-Last-Subject-Sequence"), 0, ""},
		{with(ours, client.Header{"Nats-Msg-Id": {"second"}}), 0, ""}, {with(without("Nats-Expected-Stream"), client.Header{"Nats-Expected-Stream": {"T"}}), 0, ""},
	} {
		x := entryOf(c.h, []byte("p"), "S", c.added)
		if x.ID != c.want || x.Header["Ctx-I"] != "3" || c.added == 1 && x.Seq != lastNumber(c.h, seqHeader) {
			t.Errorf("%d: %+v, want the id %q", i, x, c.want)
		}
	}
}

// What a host of some owners may do names those owners, or nobody's journals.
func TestRightsOfSomeOwners(t *testing.T) {
	r := HostRights("laptop", "u1000")
	for _, s := range slices.Concat(r.Publish, r.Subscribe) {
		free := []string{"ctx.v1.h.", "_INBOX.laptop.", "$KV.CTX_HOSTS.", "$JS.API.DIRECT.GET.KV_CTX_", "$JS.API.CONSUMER.MSG.NEXT.", "$JS.API.CONSUMER.DELETE."}
		if !strings.Contains(s, ".u1000") && !slices.ContainsFunc(free, func(p string) bool { return strings.HasPrefix(s, p) }) {
			t.Errorf("the right %s is not of the owner alone", s)
		}
	}
	for _, all := range []Rights{r, HostRights("a")} {
		for _, s := range all.Publish {
			for _, bad := range []string{"PURGE", "STREAM.DELETE", "UPDATE", "STREAM.CREATE", "STEPDOWN", "MSG.DELETE", "SNAPSHOT", "RESTORE", "ctx.v1.f", "$KV.CTX_META"} {
				if strings.Contains(s, bad) || s == ">" || s == "$JS.API.>" {
					t.Errorf("a host may publish to %s", s)
				}
			}
		}
	}
}

func TestConflictsNameTheEnd(t *testing.T) {
	for text, want := range map[string]uint64{"wrong last sequence: 17": 17, "wrong last sequence: 0": 0, "wrong last sequence": 0, fmt.Sprint("x: ", uint64(1)<<63): 1 << 63} {
		if got := conflictEnd(&apiError{Description: text}); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
