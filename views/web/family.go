package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc"
	"github.com/ctxfs/ctxfs/internal/process"
	"github.com/ctxfs/ctxfs/views/overview"
)

const (
	maxDepth    = 4
	maxRelation = 300 // sessions in a tree
	maxSiblings = 1000
	maxResult   = 200 // letters of a child's result
)

// kin is a session in the tree of those that belong together.
type kin struct {
	Name, Agent, Ref string // Ref: "" where it is not linked
	State            string
	Messages         int
	Result           string
	Here             bool
	Kin              []kin
}

// familyView is where a session comes from and what came of it.
type familyView struct {
	Ref        string
	Parent     string
	ForkedFrom string
	ForkRef    string
	ForkAt     string
	Tree       kin
	Forks      []kin
	More       bool
}

// metaOf is what meta.json says of the origin of a session.
type metaOf struct {
	Parent     string `json:"parent"`
	ForkedFrom string `json:"forked_from"`
}

func readMeta(dir string) (m metaOf) {
	c, err := overview.ReadHead(filepath.Join(dir, ctxabi.MetaFile), 64<<10)
	if err == nil {
		json.Unmarshal([]byte(c.Text), &m) // a parent that is no text is none
	}
	return m
}

// family shows the children of a session, and its forks.
func (s *Server) family(ctx context.Context, dir string, r *http.Request) (string, any, error) {
	ref := r.PathValue("ref")
	m := readMeta(dir)
	v := familyView{Ref: ref, Parent: m.Parent, ForkedFrom: m.ForkedFrom}
	v.ForkRef, v.ForkAt, _ = strings.Cut(m.ForkedFrom, "@")
	if _, err := s.dir(v.ForkRef); err != nil {
		v.ForkRef = ""
	}
	if _, err := s.dir(v.Parent); err != nil {
		v.Parent = ""
	}
	left := maxRelation
	v.Tree = s.kin(ctx, ref, 0, &left)
	v.Tree.Here = true
	siblings := filepath.Dir(dir)
	names, err := os.ReadDir(siblings)
	if err != nil || s.Only != nil {
		names = nil
	}
	if len(names) > maxSiblings {
		names, v.More = names[len(names)-maxSiblings:], true
	}
	for _, n := range names {
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		at := path.Join(path.Dir(ref), n.Name())
		if from, _, _ := strings.Cut(readMeta(filepath.Join(siblings, n.Name())).ForkedFrom, "@"); from == ref && at != ref {
			v.Forks = append(v.Forks, s.kin(ctx, at, maxDepth, &left))
		}
	}
	v.More = v.More || left <= 0
	return "family", v, nil
}

// kin reads a session and its children.
func (s *Server) kin(ctx context.Context, ref string, depth int, left *int) kin {
	dir := filepath.Join(s.Root, ref)
	k := kin{Name: path.Base(ref), Agent: path.Base(path.Dir(path.Dir(ref))), Ref: ref, State: process.State(dir), Messages: overview.RecordsOf(dir, ctxabi.MessagesFile)}
	children, err := os.ReadDir(filepath.Join(dir, ctxabi.ChildDir))
	if err != nil || depth >= maxDepth {
		return k
	}
	for _, c := range children {
		if *left--; *left <= 0 || ctx.Err() != nil {
			return k
		}
		at := filepath.Join(dir, ctxabi.ChildDir, c.Name())
		agent, name := overview.LineOf(at, ctxabi.ChildAgent), overview.LineOf(at, ctxabi.ChildSession)
		child := kin{Agent: agent, State: overview.LineOf(at, ctxabi.ChildStatus)}
		to := path.Join(path.Dir(path.Dir(path.Dir(path.Dir(ref)))), ctxabi.AgentDir, agent, ctxabi.SessionDir, name)
		if _, err := s.dir(to); err == nil && agent != "" && name != "" {
			state := child.State
			child = s.kin(ctx, to, depth+1, left)
			child.State = state
		}
		child.Name = c.Name()
		if result, err := overview.ReadHead(filepath.Join(at, ctxabi.ChildResult), 4<<10); err == nil {
			child.Result = overview.OneLine(result.Text, maxResult)
		}
		k.Kin = append(k.Kin, child)
	}
	return k
}

// planView is what the collector would do now, or did when it ran last.
type planView struct {
	*gc.Report
	Dry    bool
	Path   string
	Policy []string
}

// plan shows what the collector would remove, and why; nothing is removed by that.
func (s *Server) plan(ctx context.Context, dir string, _ *http.Request) (string, any, error) {
	v := planView{Dry: true, Path: filepath.Join(dir, ctxabi.PolicyFile)}
	r, err := s.Plan(ctx, dir)
	if errors.Is(err, os.ErrPermission) {
		v.Dry = false
		var c overview.Head
		if c, err = overview.ReadHead(filepath.Join(dir, ctxabi.GCReportFile), maxAnswer); err == nil {
			r, err = gc.ParseReport([]byte(c.Text))
		}
	}
	if err != nil {
		return "", nil, err
	}
	v.Report, v.Policy = r, strings.Fields(r.Policy)
	return "plan", v, nil
}
