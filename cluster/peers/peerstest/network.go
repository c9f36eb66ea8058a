package peerstest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/peers"
)

// Fault is something that goes wrong once with a request.
type Fault int

// Faults of the next Append of a host.
const (
	LoseRequest Fault = iota // it does not arrive
	LoseReply                // it arrives, and the answer does not
	Delay                    // it arrives at Network.Land
	kinds
)

// Kinds is the number of faults. Their values are 0 to Kinds-1.
const Kinds = int(kinds)

// ErrLost is the error of a request whose answer was lost.
var ErrLost = errors.New("the host does not answer")

// Network connects the hosts of one process. Nothing runs in the background: a delayed request
// arrives when Land is called. Its methods are safe for concurrent use.
type Network struct {
	mu     sync.Mutex
	hosts  map[string]peers.Handler // guarded by mu
	cut    map[string]bool          // guarded by mu
	faults map[string][]Fault       // guarded by mu
	late   []func()                 // guarded by mu
}

// NewNetwork returns a network without hosts.
func NewNetwork() *Network {
	return &Network{hosts: map[string]peers.Handler{}, cut: map[string]bool{}, faults: map[string][]Fault{}}
}

// Join makes h the host called name; nil: there is no such host any more.
func (n *Network) Join(name string, h peers.Handler) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if delete(n.hosts, name); h != nil {
		n.hosts[name] = h
	}
}

// Cut separates a host from the others, which do not learn of it, or connects it again.
func (n *Network) Cut(name string, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[name] = cut
}

// Inject makes a fault happen to a request of the host called from, once.
func (n *Network) Inject(from string, f Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults[from] = append(n.faults[from], f)
}

// Heal takes back what was injected for a host.
func (n *Network) Heal(from string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.faults, from)
}

// Land makes the requests that were delayed arrive now, in their order.
func (n *Network) Land() {
	n.mu.Lock()
	late := n.late
	n.late = nil
	n.mu.Unlock()
	for _, f := range late {
		f()
	}
}

// Host returns the peers of the host called name.
func (n *Network) Host(name string) peers.Peers { return memory{n, name} }

type memory struct {
	n    *Network
	name string
}

// Alive reports whether a host has joined.
func (m memory) Alive(host string) bool {
	m.n.mu.Lock()
	defer m.n.mu.Unlock()
	return m.n.hosts[host] != nil
}

// find returns a host. It returns peers.ErrNobody if it has not joined, and ErrLost if one of both
// is cut off. The caller holds mu.
func (m memory) find(host string) (peers.Handler, error) {
	h := m.n.hosts[host]
	if h == nil {
		return nil, peers.ErrNobody
	}
	if m.n.cut[m.name] || m.n.cut[host] {
		return nil, ErrLost
	}
	return h, nil
}

// Append asks a host; see [peers.Peers]. It returns peers.ErrNobody and ErrLost.
func (m memory) Append(ctx context.Context, host string, a *peers.Append) (*peers.Receipt, error) {
	m.n.mu.Lock()
	h, err := m.find(host)
	fault := Fault(-1)
	if err == nil && len(m.n.faults[m.name]) > 0 {
		fault = m.n.faults[m.name][0]
		m.n.faults[m.name] = m.n.faults[m.name][1:]
	}
	if fault == Delay {
		late := *a
		late.Requests = slices.Clone(a.Requests)
		m.n.late = append(m.n.late, func() {
			if h, err := (memory{m.n, m.name}).late(host); err == nil {
				h.TakeAppend(context.WithoutCancel(ctx), &late)
			}
		})
	}
	m.n.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case fault == LoseRequest || fault == Delay:
		return nil, ErrLost
	}
	r, err := h.TakeAppend(ctx, a)
	if fault == LoseReply {
		return nil, ErrLost
	}
	return r, err
}

// late returns a host at the time when a delayed request arrives.
func (m memory) late(host string) (peers.Handler, error) {
	m.n.mu.Lock()
	defer m.n.mu.Unlock()
	return m.find(host)
}

// Head asks a host; see [peers.Peers]. It returns peers.ErrNobody and ErrLost.
func (m memory) Head(ctx context.Context, host string, s engine.Subject) (peers.Head, error) {
	h, err := m.late(host)
	if err != nil {
		return peers.Head{}, err
	}
	return h.TakeHead(ctx, s)
}
