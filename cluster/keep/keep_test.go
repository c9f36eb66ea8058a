package keep

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/nats"
)

// status returns one with all there can be.
func status() Status {
	replica := engine.Replica{Server: "n1", First: 1, Last: 9, Entries: 9, Lost: 2}
	return Status{
		Cluster: `me"mory\`, Store: "abc", Format: 1, Hosts: []nats.HostRow{{Host: "a", Version: "1.2", Sessions: 3, BehindMs: 4000}, {Host: "b"}}, Expires: time.Unix(2e9, 0), Problems: []string{"x"},
		Servers: []Server{{Name: "n1", Answers: true, SyncAlways: true, Leads: 1}, {Name: "n2"}}, Quorum: true,
		Streams: []Stream{{Name: "CTXJ_00", Leader: "n1", Replicas: []engine.Replica{replica}, Problems: []string{"1 of 3"}}},
		Attest:  &Report{At: time.Unix(1e9, 0)}, Unsafe: &Unsafe{Reasons: []string{"y"}},
	}
}

var sample = regexp.MustCompile(`^([a-z_]+)(\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? (-?[0-9.]+)$`)

// What a monitor reads is OpenMetrics: each family is described once, before its samples, which stand
// together and differ in their labels.
func TestMetricsHaveTheirForm(t *testing.T) {
	var out bytes.Buffer
	if err := WriteMetrics(&out, status()); err != nil {
		t.Fatal(err)
	}
	text, ok := strings.CutSuffix(out.String(), "# EOF\n")
	if !ok {
		t.Fatal("no end")
	}
	family, kind, families, seen := "", "", map[string]bool{}, map[string]bool{}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if words := strings.Fields(line); words[0] == "#" {
			if words[1] == "TYPE" {
				if family, kind = words[2], words[3]; families[family] {
					t.Errorf("%s is described twice", family)
				}
				families[family] = true
			}
			if words[2] != family || words[1] == "UNIT" && !strings.HasSuffix(family, "_"+words[3]) {
				t.Errorf("%q in %s", line, family)
			}
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("%q is no sample", line)
			continue
		}
		if want := family + map[string]string{"info": "_info"}[kind]; m[1] != want || seen[m[1]+m[2]] {
			t.Errorf("%q in %s", line, family)
		}
		seen[m[1]+m[2]] = true
	}
	for _, want := range []string{
		`ctxfs_cluster_store_info{cluster="me\"mory\\",store="abc",format="1"} 1`, "ctxfs_cluster_problems 1", "ctxfs_cluster_ran_unsafe 1",
		"ctxfs_cluster_quorum 1", `ctxfs_cluster_stream_led{stream="CTXJ_00"} 1`, `ctxfs_cluster_server_up{server="n1"} 1`, `ctxfs_cluster_server_up{server="n2"} 0`, `ctxfs_cluster_stream_replicas{stream="CTXJ_00"} 1`,
		`ctxfs_cluster_replica_lost_entries{stream="CTXJ_00",server="n1"} 2`, "ctxfs_cluster_attest_timestamp_seconds 1000000000",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

func TestProblemsOfManyStreamsAreOneLine(t *testing.T) {
	var list []Stream
	for i := range 20 {
		s := Stream{Name: fmt.Sprint("s", i), Problems: []string{"2 of 3 replicas answer"}}
		if i < 2 {
			s.Problems = append(s.Problems, "no leader")
		}
		list = append(list, s)
	}
	if got := together(list); !slices.Equal(got, []string{"20 of 20 streams: 2 of 3 replicas answer", "s0, s1: no leader"}) {
		t.Errorf("%q", got)
	}
	if got := together(list[:0]); got != nil {
		t.Errorf("%q", got)
	}
}

// Entries of the buckets end by time on each server for itself: replicas may differ in them.
func TestWhatIsWrongWithStreams(t *testing.T) {
	good := engine.Replica{First: 1, Last: 5, Entries: 5}
	gap := engine.Replica{First: 1, Last: 5, Entries: 4, Deleted: 1}
	for _, c := range []struct {
		s    nats.Stream
		want int
	}{
		{nats.Stream{Attestation: engine.Attestation{Leader: "a", Wanted: 3, Replicas: []engine.Replica{good, good, good}}, Attested: true}, 0},
		{nats.Stream{Attestation: engine.Attestation{Leader: "a", Wanted: 3, Replicas: []engine.Replica{good, good, gap}}, Attested: true}, 1},
		{nats.Stream{Attestation: engine.Attestation{Leader: "a", Wanted: 3, Replicas: []engine.Replica{good, good, gap}}}, 0},
		{nats.Stream{Attestation: engine.Attestation{Leader: "a", Wanted: 3, Replicas: []engine.Replica{good, gap}}}, 1},
		{nats.Stream{Attestation: engine.Attestation{Wanted: 3, Replicas: []engine.Replica{good, good, good}}, Attested: true}, 1},
		{nats.Stream{Attestation: engine.Attestation{Wanted: 3}}, 2},
	} {
		if got := c.s.Problems(); len(got) != c.want {
			t.Errorf("%+v: %q, want %d", c.s, got, c.want)
		}
	}
}

// An operator reads each sentence once, and that it is settled.
func TestAlarmsAreNotRepeated(t *testing.T) {
	var said []string
	k := Keeper{Log: func(s string) { said = append(said, s) }, said: map[string]string{}}
	bad := Report{Streams: []Stream{{Name: "CTXT", Problems: []string{"no leader"}}}}
	for _, r := range []Report{{}, bad, bad, {}, {}, {Problems: []string{"server n1 does not sync always"}}} {
		k.alarm(r)
	}
	if len(said) != 3 || !strings.Contains(said[0], "CTXT: no leader") || !strings.Contains(said[1], "settled") || !strings.Contains(said[2], "n1 does not sync") {
		t.Errorf("%q", said)
	}
}

// A replica that has lost its end, or has nothing, is behind; one that others go ahead of is not.
func TestReplicasThatAreBehind(t *testing.T) {
	at := func(last ...uint64) []Stream {
		s := Stream{Name: "CTXT"}
		for i, n := range last {
			s.Replicas = append(s.Replicas, engine.Replica{Server: fmt.Sprint("n", i+1), First: 1, Last: n, Entries: n})
		}
		return []Stream{s}
	}
	for _, c := range []struct {
		before, now []Stream
		want        string
	}{
		{at(5, 5, 5), at(5, 5, 5), ""}, {at(5, 4, 5), at(7, 5, 6), ""}, {at(5, 5, 5), at(5, 9, 5), ""},
		{at(5, 5, 0), at(6, 6, 0), "n3 ends at 0, and another replica at 5"}, {at(5, 4, 5), at(5, 4, 5), "n2 ends at 4, and another replica at 5"},
		{nil, at(5, 1, 1), ""},
	} {
		if got := strings.Join(behind(c.before, c.now)["CTXT"], "; "); got != c.want {
			t.Errorf("%+v, %+v: %q, want %q", c.before, c.now, got, c.want)
		}
	}
}

// A leader is whole if it has all that any replica had, and another one agrees. It need not be all three.
func TestWhichLeadersAreWhole(t *testing.T) {
	r := func(server string, first, last, entries, deleted uint64) engine.Replica {
		return engine.Replica{Server: server, First: first, Last: last, Entries: entries, Deleted: deleted}
	}
	stream := func(leader string, list ...engine.Replica) []Stream {
		return []Stream{{Name: "CTXT", Leader: leader, Election: "1", Replicas: list}}
	}
	for _, c := range []struct {
		before, now []Stream
		why         string
	}{
		{stream("n1", r("n1", 1, 9, 9, 0), r("n2", 1, 9, 9, 0), r("n3", 1, 9, 9, 0)), nil, ""},
		{stream("n1", r("n1", 1, 9, 9, 0), r("n2", 1, 9, 9, 0)), nil, ""},
		{stream("n1", r("n1", 1, 9, 9, 0), r("n2", 1, 9, 5, 4), r("n3", 1, 9, 9, 0)), nil, ""},
		{stream("n1", r("n1", 1, 9, 9, 0), r("n2", 1, 4, 4, 0)), nil, "no other replica agrees"},
		{stream("n1", r("n1", 1, 9, 9, 0), r("n2", 1, 10, 10, 0)), stream("n1", r("n1", 1, 12, 12, 0), r("n2", 1, 11, 11, 0)), ""},
		{stream("n1", r("n1", 1, 9, 9, 0), r("n2", 1, 30, 30, 0), r("n3", 1, 30, 30, 0)), nil, "ends at 9, and n2 at 30"},
		{stream("n1", r("n1", 1, 30, 9, 0), r("n2", 1, 30, 30, 0), r("n3", 1, 30, 30, 0)), nil, "lacks entries"},
		{stream("n1", r("n1", 1, 30, 9, 21), r("n2", 1, 30, 30, 0), r("n3", 1, 30, 30, 0)), nil, "no other replica agrees"},
		{stream("n1", r("n1", 1, 0, 0, 0), r("n2", 1, 30, 30, 0), r("n3", 1, 30, 30, 0)), nil, "ends at 0"},
		{stream("n1", r("n1", 1, 9, 9, 0)), nil, "no other replica"},
		{stream("", r("n1", 1, 9, 9, 0), r("n2", 1, 9, 9, 0)), nil, "no leader"},
		{stream("n3", r("n1", 1, 9, 9, 0), r("n2", 1, 9, 9, 0)), nil, "no leader"},
	} {
		if c.now == nil {
			c.now = c.before
		}
		got := judge(c.before, c.now)["CTXT"]
		if (got.Why == "") != (c.why == "") || !strings.Contains(got.Why, c.why) || got.Server != c.now[0].Leader || got.Election != "1" {
			t.Errorf("%+v\n%+v\nis %+v, want %q", c.before, c.now, got, c.why)
		}
	}
}

func TestHostsAreATable(t *testing.T) {
	var out bytes.Buffer
	if err := WriteTables(&out, status()); err != nil {
		t.Fatal(err)
	}
	if line := regexp.MustCompile(`(?m)^a +1\.2 +0001-01-01T00:00:00Z +3 +4s +-$`); !line.MatchString(out.String()) {
		t.Errorf("no line of host a in\n%s", out.String())
	}
}

// A replica that goes on is left alone, whatever it lacks; one that does not, or that lacks what catching up does
// not bring, is made anew, if the two others prove each other.
func TestWhichReplicasAreMadeAnew(t *testing.T) {
	r := func(server string, first, last, entries, deleted uint64) engine.Replica {
		return engine.Replica{Server: server, First: first, Last: last, Entries: entries, Deleted: deleted}
	}
	good := func(last uint64, more ...engine.Replica) []Stream {
		return []Stream{{Name: "CTXT", Leader: "n1", Attested: true, Replicas: append([]engine.Replica{r("n1", 1, last, last, 0), r("n3", 1, last, last, 0)}, more...)}}
	}
	for _, c := range []struct {
		what   string
		looks  [][]Stream // 5 s apart
		damage string     // at the last one
	}{
		{"whole", [][]Stream{good(9, r("n2", 1, 9, 9, 0)), good(12, r("n2", 1, 12, 12, 0))}, ""},
		{"a hole", [][]Stream{good(9, r("n2", 1, 9, 7, 2)), good(12, r("n2", 1, 12, 10, 2))}, "begins at 1 with 2 gaps"},
		{"a hole at one look", [][]Stream{good(9, r("n2", 1, 9, 7, 2)), good(12, r("n2", 1, 12, 12, 0))}, ""},
		{"catching up", [][]Stream{good(99, r("n2", 1, 10, 10, 0)), good(99, r("n2", 1, 20, 20, 0)), good(99, r("n2", 1, 30, 30, 0)), good(99, r("n2", 1, 40, 40, 0)), good(99, r("n2", 1, 50, 50, 0))}, ""},
		{"stuck", [][]Stream{good(99, r("n2", 1, 10, 10, 0)), good(99, r("n2", 1, 10, 10, 0)), good(99, r("n2", 1, 10, 10, 0)), good(99, r("n2", 1, 10, 10, 0)), good(99, r("n2", 1, 10, 10, 0))}, "it ends at 10"},
		{"not there", [][]Stream{good(9), good(9), good(9), good(9), good(9)}, "no replica"},
		{"not there yet", [][]Stream{good(9), good(9), good(9), good(9), good(9, r("n2", 1, 9, 9, 0))}, ""},
		{"another one does not answer", [][]Stream{{{Name: "CTXT", Attested: true, Replicas: []engine.Replica{r("n1", 1, 9, 9, 0), r("n2", 1, 9, 7, 2)}}}, {{Name: "CTXT", Attested: true, Replicas: []engine.Replica{r("n1", 1, 9, 9, 0), r("n2", 1, 9, 7, 2)}}}}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			w, found := watch{}, map[string]string{}
			for _, look := range c.looks {
				found = w.damaged(look, look, "n2")
				time.Sleep(5 * time.Second)
			}
			if (found["CTXT"] == "") != (c.damage == "") || !strings.Contains(found["CTXT"], c.damage) {
				t.Errorf("%s: %q, want %q", c.what, found, c.damage)
			}
		})
	}
}

// A scrub began so long after its server did: servers that were started each day never scrubbed.
func TestAScrubIsDueThoughServersStartAnew(t *testing.T) {
	now, day := time.Unix(1e9, 0), 24*time.Hour
	for _, c := range []struct {
		last Scrubbed
		left time.Duration
	}{
		{Scrubbed{}, day},
		{Scrubbed{Since: now.Add(-23 * time.Hour)}, time.Hour},
		{Scrubbed{Since: now.Add(-3 * day)}, 0},
		{Scrubbed{Since: now.Add(-9 * day), At: now.Add(-6 * time.Hour)}, 18 * time.Hour},
		{Scrubbed{At: now.Add(-2 * day)}, 0},
		{Scrubbed{At: now.Add(5 * day)}, day}, // by a clock that was wrong
	} {
		if left := c.last.due(day, now).Sub(now); left != c.left {
			t.Errorf("%+v: due in %v, want %v", c.last, left, c.left)
		}
	}
}

// What is set aside can be set aside again, and a stream that is not there is no error.
func TestEntriesAndLogAreSetAside(t *testing.T) {
	store := t.TempDir()
	for range 2 {
		for _, dir := range []string{"jetstream/CTX/streams/CTXJ_03/msgs", "jetstream/SYS/_js_/S-R3F-x/msgs", "jetstream/CTX/streams/CTXJ_04/msgs"} {
			if err := os.MkdirAll(filepath.Join(store, dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		to, err := setAside(store, "CTXJ_03", "S-R3F-x")
		if err != nil {
			t.Fatal(err)
		}
		for dir, there := range map[string]bool{to + "/entries/msgs": true, to + "/log/msgs": true, store + "/jetstream/CTX/streams/CTXJ_03": false, store + "/jetstream/SYS/_js_/S-R3F-x": false, store + "/jetstream/CTX/streams/CTXJ_04": true} {
			if _, err := os.Stat(dir); (err == nil) != there {
				t.Errorf("%s: %v", dir, err)
			}
		}
	}
	if _, err := setAside(store, "CTXJ_05", "S-R3F-y"); err != nil {
		t.Error(err)
	}
	if _, err := setAside(store, "", ""); err == nil {
		t.Error("a stream without a name is set aside")
	}
}
