package servers

import (
	"io"
	"net"
	"sync"
	"time"
)

// Proxy is a link to one address. Its methods may be called at the same time.
type Proxy struct {
	listener net.Listener
	to       string

	mu     sync.Mutex // guards all below
	change *sync.Cond
	state  linkState
	delay  time.Duration // of each piece of data
	conns  map[net.Conn]bool
	closed bool
}

// linkState is how a link is.
type linkState int

const (
	linkOpen   linkState = iota
	linkSilent           // connections stay, and nothing arrives
	linkCut              // connections break, and new ones are refused
)

// newProxy returns a link to an address.
func newProxy(to string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, to: to, conns: map[net.Conn]bool{}}
	p.change = sync.NewCond(&p.mu)
	go p.accept()
	return p, nil
}

// Addr returns where the link begins.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

func (p *Proxy) accept() {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.serve(in)
	}
}

// serve carries data of one connection in both directions.
func (p *Proxy) serve(in net.Conn) {
	defer in.Close()
	if !p.hold(in) {
		return
	}
	defer p.forget(in)
	out, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer out.Close()
	if !p.hold(out) {
		return
	}
	defer p.forget(out)
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		go func() {
			p.carry(way[1], way[0])
			in.Close()
			out.Close()
			done <- struct{}{}
		}()
	}
	<-done
	<-done
}

// carry copies what comes, when the link carries it.
func (p *Proxy) carry(to io.Writer, from io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			delay, ok := p.pass()
			if !ok {
				return
			}
			if delay > 0 {
				time.Sleep(delay) // the link is slow
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass waits while the link is silent. It reports whether it carries data.
func (p *Proxy) pass() (time.Duration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.state == linkSilent && !p.closed {
		p.change.Wait()
	}
	return p.delay, p.state == linkOpen && !p.closed
}

// hold notes a connection, if the link takes new ones.
func (p *Proxy) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == linkCut || p.closed {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) forget(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// set changes how the link is. Connections that were silenced are broken when it opens again: what they
// held back is lost, as after a partition.
func (p *Proxy) set(s linkState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s == p.state {
		return
	}
	if s == linkCut || p.state == linkSilent {
		p.breakAll()
	}
	p.state = s
	p.change.Broadcast()
}

// breakAll closes all connections. The caller holds mu.
func (p *Proxy) breakAll() {
	for c := range p.conns {
		c.Close()
	}
}

// slow delays each piece of data.
func (p *Proxy) slow(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// close ends the link.
func (p *Proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.breakAll()
	p.change.Broadcast()
}
