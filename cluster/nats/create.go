package nats

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Format is the format of journals, objects and names in a cluster.
const Format = 1

// Statement is the report of the maintenance user about a cluster. Hosts read it, since they cannot ask
// every server.
type Statement struct {
	Store    string            `json:"store"` // id of the store, which is never used again
	Format   int               `json:"format"`
	Shards   int               `json:"shards"`
	Created  map[string]string `json:"created"` // streams, and when they were made: another time is another stream
	Servers  []Server          `json:"servers"`
	Problems []string          `json:"problems,omitempty"`
}

// Server is one server as it describes itself.
type Server struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	SyncAlways bool   `json:"sync_always"`
}

// statementKey is where the statement lies.
const statementKey = "$KV." + metaBucket + ".statement"

// Create makes the streams of a cluster, and the first statement. It is for the maintenance user. Streams
// that an earlier call has made before it was cut off are taken: nothing was ever in them, they have the
// settings that they need, and there is no statement. It returns ErrInvalid if there is a statement, or
// another stream of these names, for then there is a store already or what is left of one; ErrDenied,
// ErrUnreachable, and ErrUnsafe as Open does.
func Create(ctx context.Context, o Options, share Share, tags ...string) (Statement, error) {
	var s Statement
	e, err := connect(ctx, o)
	if err != nil {
		return s, err
	}
	defer e.Close()
	list := configs(share.limits())
	there := map[string]bool{}
	for _, c := range list {
		if there[c.Name], err = e.isEmpty(ctx, c); err != nil {
			return s, err
		}
	}
	for _, c := range list {
		if there[c.Name] {
			continue
		}
		if len(tags) > 0 {
			c.Placement = &placement{tags}
		}
		if err := e.createStream(ctx, c); err != nil {
			return s, err
		}
	}
	s = Statement{Store: strings.ToLower(rand.Text()), Format: Format, Shards: engine.Shards}
	if s.Created, err = e.created(ctx); err != nil {
		return s, err
	}
	if s, err = e.certify(ctx, s); err != nil {
		return s, err
	}
	if problems := append(e.unsafe, s.Problems...); len(problems) > 0 && !o.Unsafe {
		return s, fmt.Errorf("%w: %s", engine.ErrUnsafe, strings.Join(problems, "; "))
	}
	return s, nil
}

// isEmpty reports whether there is a stream that Create has made and nothing was ever in. It returns
// ErrInvalid if there is another one of its name.
func (e *Engine) isEmpty(ctx context.Context, c config) (bool, error) {
	is, _, last, err := e.streamState(ctx, c.Name)
	if errors.Is(err, engine.ErrGone) {
		return false, nil
	}
	if err == nil && (last > 0 || c.differences(is) != nil) {
		err = fmt.Errorf("%w: stream %s is there already", engine.ErrInvalid, c.Name)
	}
	return err == nil, err
}

// createStream makes one stream. Servers that have just started may not yet have a leader for it.
func (e *Engine) createStream(ctx context.Context, c config) error {
	for {
		var made struct{}
		failed, err := e.api(ctx, "STREAM.CREATE."+c.Name, c, &made)
		if err != nil {
			return err
		}
		if failed == nil {
			return nil
		}
		if failed.Code != 503 && failed.Code != 500 && !strings.Contains(failed.Description, "no suitable peers") || !e.pause(ctx) {
			return failed.asError(c.Name)
		}
	}
}

// created returns when each stream was made.
func (e *Engine) created(ctx context.Context) (map[string]string, error) {
	list := map[string]string{}
	for _, c := range configs(Share{}) {
		_, created, err := e.streamInfo(ctx, c.Name)
		if err != nil {
			return nil, err
		}
		list[c.Name] = created
	}
	return list, nil
}

// Certify looks at the servers and the streams anew, and writes the statement that hosts read. It is for
// the maintenance user with system credentials. It returns ErrGone if a stream is missing or was made
// anew, ErrDenied without the rights, and ErrUnreachable. The statement lists what makes the cluster unsafe.
func (e *Engine) Certify(ctx context.Context) (Statement, error) {
	s, err := e.Statement(ctx)
	if err != nil {
		return s, err
	}
	return e.certify(ctx, s)
}

// certify is Certify of a statement whose store, format and creation times are known.
func (e *Engine) certify(ctx context.Context, s Statement) (Statement, error) {
	s.Problems = nil
	for _, want := range configs(Share{}) {
		is, created, err := e.streamInfo(ctx, want.Name)
		if err != nil {
			return s, err
		}
		if created != s.Created[want.Name] {
			return s, fmt.Errorf("%w: %s was made at %s and was another at %s", engine.ErrGone, want.Name, created, s.Created[want.Name])
		}
		for _, d := range want.differences(is) {
			s.Problems = append(s.Problems, "stream "+want.Name+": "+d)
		}
	}
	var err error
	if s.Servers, err = e.servers(ctx); errors.Is(err, engine.ErrDenied) {
		s.Problems = append(s.Problems, "nobody can say whether the servers sync always, because there are no system credentials")
	} else if err != nil {
		return s, err
	}
	s.Problems = append(s.Problems, serverProblems(s.Servers)...)
	body, err := json.Marshal(s)
	if err != nil {
		return s, err
	}
	return s, e.publish(ctx, body)
}

// publish replaces the statement.
func (e *Engine) publish(ctx context.Context, body []byte) error {
	p := place{"KV_" + metaBucket, statementKey}
	for {
		last, _, err := e.ask(ctx, p.stream, map[string]any{"last_by_subj": p.subject})
		if err != nil {
			return err
		}
		_, err = e.store(ctx, p, last.Seq, engine.Entry{ID: "s-" + rand.Text(), Payload: body})
		if _, ok := errors.AsType[*engine.Conflict](err); !ok && !errors.Is(err, engine.ErrBusy) || !e.pause(ctx) {
			return err
		}
	}
}

// serverProblems returns one sentence for each setting or version of servers that makes them unsafe.
func serverProblems(list []Server) (problems []string) {
	for _, s := range list {
		if !atLeast(s.Version, minVersion) {
			problems = append(problems, fmt.Sprintf("server %s is %s, older than %s", s.Name, s.Version, minVersion))
		}
		if !s.SyncAlways {
			problems = append(problems, fmt.Sprintf("server %s does not sync always: set sync_interval: always in its jetstream block", s.Name))
		}
	}
	return problems
}

// Statement reads the last statement of the maintenance user. It returns ErrGone if there is none,
// ErrDenied or ErrUnreachable.
func (e *Engine) Statement(ctx context.Context) (s Statement, err error) {
	p := place{"KV_" + metaBucket, statementKey}
	m, found, err := e.lastOf(ctx, p)
	for range 5 {
		if found || err != nil || !e.pause(ctx) {
			break
		}
		m, found, err = e.lastOf(ctx, p) // a replica that is behind may have answered
	}
	if err != nil {
		return s, err
	}
	if found && m.ID == "" {
		return s, fmt.Errorf("%w: the statement is not from the maintenance user; ctxfs cluster serve writes it anew", engine.ErrUnreachable)
	}
	if !found {
		return s, fmt.Errorf("%w: there is no store; ctxfs cluster init makes one", engine.ErrGone)
	}
	if err := json.Unmarshal(m.Payload, &s); err != nil {
		return s, fmt.Errorf("%w: the statement: %w", engine.ErrGone, err)
	}
	return s, nil
}

// inspect returns the reasons why the cluster is unsafe, none if it is safe. It returns ErrGone if a
// stream is missing or another, and ErrInvalid if the store has a format that this engine does not know.
func (e *Engine) inspect(ctx context.Context) (reasons []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, max(e.opts.Timeout, 30*time.Second))
	defer cancel()
	s, err := e.Statement(ctx)
	if err != nil {
		return nil, err
	}
	if s.Format != Format || s.Shards != engine.Shards {
		return nil, fmt.Errorf("%w: a cluster of format %d with %d shards", engine.ErrInvalid, s.Format, s.Shards)
	}
	reasons = s.Problems
	if !e.restricted() {
		now, err := e.created(ctx)
		if err != nil {
			return nil, err
		}
		if !maps.Equal(now, s.Created) {
			return nil, fmt.Errorf("%w: streams were made anew", engine.ErrGone)
		}
	}
	if e.system.conns[0] != nil {
		servers, err := e.servers(ctx)
		if err != nil {
			return nil, err
		}
		reasons = append(slices.Clone(reasons), serverProblems(servers)...)
	}
	slices.Sort(reasons)
	return slices.Compact(reasons), nil
}
