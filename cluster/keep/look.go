package keep

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/member"
	"github.com/ctxfs/ctxfs/cluster/nats"
)

// Status is what a machine sees of its cluster.
type Status struct {
	Cluster  string         `json:"cluster"`
	Machine  string         `json:"machine,omitempty"`
	Store    string         `json:"store,omitempty"` // "" if there is none, or nobody says
	Format   int            `json:"format,omitempty"`
	Servers  []Server       `json:"servers"`
	Quorum   bool           `json:"quorum"`            // more than half of them answer this machine: appends go on
	Streams  []Stream       `json:"streams"`           // as they are now where the machine maintains, else as in the last report
	Hosts    []nats.HostRow `json:"hosts"`             // those that live; where the machine maintains
	Attest   *Report        `json:"attest,omitempty"`  // the last look at all replicas; its streams are not repeated
	Scrub    *Scrubbed      `json:"scrub,omitempty"`   // the last scrub
	Healing  *Healing       `json:"healing,omitempty"` // the replicas that are made anew, and those that are to be
	Unsafe   *Unsafe        `json:"unsafe,omitempty"`  // what the cluster has ever run without
	Expires  time.Time      `json:"certificates_expire"`
	Problems []string       `json:"problems"`
}

// Server is a server as this machine sees it.
type Server struct {
	Name       string        `json:"name"`
	Address    string        `json:"address"`
	Answers    bool          `json:"answers"` // this machine
	Version    string        `json:"version,omitempty"`
	SyncAlways bool          `json:"sync_always"`
	Leads      int           `json:"leads"` // how many streams it leads
	Why        string        `json:"why,omitempty"`
	Took       time.Duration `json:"took_ns"` // until it had answered a connection
}

// soon is how long before their end certificates are a problem.
const soon = 90 * 24 * time.Hour

// Look looks at a cluster from a machine of it. What cannot be seen is among the problems.
func Look(ctx context.Context, m member.Machine) Status {
	s := Status{Cluster: m.Cluster, Machine: m.Name, Problems: []string{}, Hosts: []nats.HostRow{}, Streams: []Stream{}}
	bad := func(format string, args ...any) { s.Problems = append(s.Problems, fmt.Sprintf(format, args...)) }
	var err error
	if s.Expires, err = m.Expires(); err != nil {
		bad("%v", err)
	} else if left := time.Until(s.Expires); left < soon {
		bad("certificates of this machine end on %s; join again with a new token", s.Expires.Format(time.DateOnly))
	}
	open := m.Host
	if m.Maintains() {
		open = m.Maintenance
	}
	o, err := open()
	if err != nil {
		bad("%v", err)
		return s
	}
	s.Servers = probe(ctx, m, o)
	up := 0
	for _, server := range s.Servers {
		if server.Answers {
			up++
		} else {
			bad("server %s at %s does not answer: %s", server.Name, server.Address, server.Why)
		}
	}
	if s.Quorum = up > len(m.Servers)/2; !s.Quorum {
		bad("no quorum: %d of %d servers answer; appends wait until two do", up, len(m.Servers))
	}
	if up == 0 {
		return s
	}
	o.Timeout, o.Unsafe = callTimeout, true
	short, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	e, err := nats.Look(short, o)
	if err != nil {
		bad("%v", err)
		return s
	}
	defer e.Close()
	s.ask(ctx, e, m.Maintains())
	return s
}

// probe connects to each server.
func probe(ctx context.Context, m member.Machine, o nats.Options) []Server {
	list := make([]Server, len(m.Servers))
	var all sync.WaitGroup
	for i, a := range m.Servers {
		all.Go(func() {
			list[i] = Server{Name: a.Name, Address: a.Hosts}
			limit := 2 * time.Second
			if d, ok := ctx.Deadline(); ok {
				limit = min(limit, max(time.Until(d), time.Millisecond))
			}
			begin := time.Now()
			c, err := client.Connect(a.URL(), append(slices.Clone(o.Auth), client.Timeout(limit), client.NoReconnect(), client.Name("ctxfs cluster status"))...)
			if errors.Is(err, client.ErrNoServers) { // has no reason
				var d net.Conn
				if d, err = net.DialTimeout("tcp", a.Hosts, limit); err == nil {
					d.Close()
					err = errors.New("it accepts connections, and closes them again")
				}
			}
			if err != nil {
				list[i].Why = err.Error()
				return
			}
			defer c.Close()
			list[i].Answers, list[i].Version, list[i].Took = true, c.ConnectedServerVersion(), time.Since(begin)
		})
	}
	all.Wait()
	return list
}

// ask asks the cluster about itself.
func (s *Status) ask(ctx context.Context, e *nats.Engine, maintains bool) {
	s.Problems = append(s.Problems, e.Unsafe()...)
	fail := func(err error) {
		if err != nil {
			s.Problems = append(s.Problems, err.Error())
		}
	}
	var servers []nats.Server
	if maintains {
		var err error
		servers, s.Streams, _, err = survey(ctx, e)
		fail(err)
	}
	statement, err := e.Statement(ctx)
	if err != nil {
		if s.empty() {
			s.Streams, err = []Stream{}, fmt.Errorf("there is no store yet; ctxfs cluster serve makes it once all %d servers run", len(s.Servers))
		}
		fail(err)
		s.finish(servers)
		return
	}
	s.Store, s.Format = statement.Store, statement.Format
	s.Problems = append(s.Problems, statement.Problems...)
	if !maintains {
		servers = statement.Servers
	} else {
		hosts, err := livingHosts(ctx, e)
		fail(err)
		s.Hosts = append(s.Hosts, hosts...)
		for _, f := range stuck(hosts) {
			s.Problems = append(s.Problems, f.String())
		}
	}
	for key, into := range map[string]any{nats.MetaAttest: &s.Attest, nats.MetaUnsafe: &s.Unsafe, nats.MetaScrub: &s.Scrub, nats.MetaHeal: &s.Healing} {
		note, err := e.Meta(ctx, key)
		if err == nil && note.Seq > 0 {
			err = json.Unmarshal(note.Data, into)
		}
		fail(err)
	}
	if s.Attest == nil {
		s.Problems = append(s.Problems, "no keeper has looked at the replicas yet; ctxfs cluster serve does")
	} else if !maintains {
		s.Streams = s.Attest.Streams
	}
	s.finish(servers)
}

// finish adds what servers say of themselves, and what is wrong with streams.
func (s *Status) finish(servers []nats.Server) {
	for i := range s.Servers {
		at := &s.Servers[i]
		for _, said := range servers {
			if said.Name == at.Name {
				at.SyncAlways, at.Version = said.SyncAlways, cmp.Or(at.Version, said.Version)
			}
		}
		for _, stream := range s.Streams {
			if stream.Leader == at.Name {
				at.Leads++
			}
		}
	}
	s.Problems = append(s.Problems, together(s.Streams)...)
	if s.Scrub != nil && s.Scrub.At.IsZero() {
		s.Scrub = nil // there was none yet
	}
	if s.Scrub != nil {
		for _, f := range s.Scrub.Findings {
			s.Problems = append(s.Problems, f.String())
		}
	}
	if s.Attest != nil {
		s.Attest.Streams = nil
	}
	slices.Sort(s.Problems)
	s.Problems = slices.Compact(s.Problems)
}

// empty reports whether no server has any of the streams.
func (s *Status) empty() bool {
	return len(s.Streams) > 0 && !slices.ContainsFunc(s.Streams, func(x Stream) bool { return len(x.Replicas) > 0 })
}
