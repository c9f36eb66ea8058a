package nats

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

const (
	// Beat is how often a host tells that it lives. Others believe it for HostLife.
	Beat = 5 * time.Second
	// HostLife is how long a host counts as living after its last sign of life.
	HostLife = 15 * time.Second
)

// HostRow is what a host tells of itself in CTX_HOSTS.
type HostRow struct {
	Host    string    `json:"host"`
	Boot    string    `json:"boot"` // of this life of it
	Version string    `json:"version"`
	Since   time.Time `json:"since"`
	Address string    `json:"address"` // machine and process, for people
	Left    bool      `json:"left,omitempty"`

	// What it is doing, for people; see package node.
	Sessions int   `json:"sessions,omitempty"`  // that it follows
	BehindMs int64 `json:"behind_ms,omitempty"` // since when its oldest copy was not confirmed

	Stuck []StuckRow `json:"stuck,omitempty"` // journals that it cannot continue: the servers lack something of them
}

// StuckRow is a journal that a host cannot continue, as the host tells it. Nobody has looked whether that is true.
type StuckRow struct {
	Owner   string `json:"owner"`
	Session string `json:"session"`
	Seq     uint64 `json:"seq"` // where its copy ends
	Why     string `json:"why"`
}

// lives is what is known of hosts.
type lives struct {
	mu    sync.Mutex
	begun time.Time           // when this host began to listen; guarded by mu
	seen  map[string]lastSeen // guarded by mu
}

type lastSeen struct {
	row HostRow
	at  time.Time // by the clock of this host
}

func hostKey(host string) string { return "$KV." + hostsBucket + "." + host }

// WatchHosts begins to listen to what hosts tell of themselves. told, if it is not nil, is called with each row.
// It returns ErrUnreachable if no link takes the subscription.
func (e *Engine) WatchHosts(told func(HostRow)) error {
	e.lives.mu.Lock()
	e.lives.begun, e.lives.seen = time.Now(), map[string]lastSeen{}
	e.lives.mu.Unlock()
	for _, c := range e.links.conns {
		_, err := c.Subscribe(hostKey("*"), func(m *client.Msg) {
			var row HostRow
			if json.Unmarshal(m.Data, &row) != nil || hostKey(row.Host) != m.Subject {
				return
			}
			e.lives.mu.Lock()
			e.lives.seen[row.Host] = lastSeen{row, time.Now()}
			e.lives.mu.Unlock()
			if told != nil {
				told(row)
			}
		})
		if err != nil {
			return fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
		}
	}
	return nil
}

// Tell publishes the row of this host. Nobody acknowledges it: it is told again soon. It returns
// ErrUnreachable if no link takes it.
func (e *Engine) Tell(row HostRow) error {
	data, err := json.Marshal(row)
	if err != nil {
		return err
	}
	link := int(e.prefer.Load())
	if e.links.url(link) == "" {
		link = 1 - link
	}
	if err := e.links.conns[link].Publish(hostKey(row.Host), data); err != nil {
		return fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	return nil
}

// Lives reports whether a host was heard of lately. What was not heard of since WatchHosts counts as living until
// it ought to have been.
func (e *Engine) Lives(host string) bool {
	e.lives.mu.Lock()
	defer e.lives.mu.Unlock()
	s, ok := e.lives.seen[host]
	if !ok {
		return time.Since(e.lives.begun) < HostLife
	}
	return !s.row.Left && time.Since(s.at) < HostLife
}

// Living returns the rows of the hosts that were heard of lately, by their names.
func (e *Engine) Living() (list []HostRow) {
	e.lives.mu.Lock()
	defer e.lives.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(e.lives.seen)) {
		if s := e.lives.seen[name]; !s.row.Left && time.Since(s.at) < HostLife {
			list = append(list, s.row)
		}
	}
	return list
}

// HostRow returns what a host told last, if the servers still have it, and its sequence; 0: it has told nothing, or
// has left. Servers keep a row for HostLife by clocks of their own, which may be wrong: who must know whether the host
// still lives looks whether it tells something new. HostRow returns ErrDenied or ErrUnreachable, and ErrInvalid for what
// cannot be a name.
func (e *Engine) HostRow(ctx context.Context, host string) (row HostRow, seq uint64, err error) {
	if host == "" || strings.Trim(host, hostBytes) != "" {
		return row, 0, fmt.Errorf("%w: host %q", engine.ErrInvalid, host)
	}
	m, found, err := e.lastOf(ctx, place{"KV_" + hostsBucket, hostKey(host)})
	if err != nil || !found {
		return row, 0, err
	}
	if json.Unmarshal(m.Payload, &row) != nil || row.Host != host || row.Left {
		return HostRow{}, 0, nil
	}
	return row, m.Seq, nil
}
