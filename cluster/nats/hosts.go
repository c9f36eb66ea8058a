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

// Beat is how often a host tells that it lives. Others believe it for hostLife.
const Beat = 5 * time.Second

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
		return time.Since(e.lives.begun) < hostLife
	}
	return !s.row.Left && time.Since(s.at) < hostLife
}

// Living returns the rows of the hosts that were heard of lately, by their names.
func (e *Engine) Living() (list []HostRow) {
	e.lives.mu.Lock()
	defer e.lives.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(e.lives.seen)) {
		if s := e.lives.seen[name]; !s.row.Left && time.Since(s.at) < hostLife {
			list = append(list, s.row)
		}
	}
	return list
}

// HostRow returns what a host told last, if that is younger than hostLife. It returns ErrDenied or ErrUnreachable,
// and ErrInvalid for what cannot be a name.
func (e *Engine) HostRow(ctx context.Context, host string) (row HostRow, found bool, err error) {
	if host == "" || strings.Trim(host, hostBytes) != "" {
		return row, false, fmt.Errorf("%w: host %q", engine.ErrInvalid, host)
	}
	m, found, err := e.lastOf(ctx, place{"KV_" + hostsBucket, hostKey(host)})
	if err != nil || !found {
		return row, false, err
	}
	if json.Unmarshal(m.Payload, &row) != nil || row.Host != host || row.Left {
		return HostRow{}, false, nil
	}
	return row, true, nil
}
