package builder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
)

type callerKey struct{}

// WithCaller returns which process a pack is built for.
func WithCaller(ctx context.Context, pid uint32) context.Context {
	return context.WithValue(ctx, callerKey{}, pid)
}

// IsInside reports whether whoever asks is part of a generator of x.
func (b *Builder) IsInside(ctx context.Context, x *session.Session) bool {
	if b.config.Inside {
		return true
	}
	pid, ok := ctx.Value(callerKey{}).(uint32)
	if !ok || pid == 0 || b.config.Generators == nil {
		return false
	}
	id, ok := b.config.Generators.Inside(pid)
	return ok && id == x.ID()
}

// inside is [Builder.latest] for a generator of the session.
func (b *Builder) inside(ctx context.Context, x *session.Session, e *entry) (*packed, error) {
	if p := e.newest.Load(); p.build != nil {
		return p, nil
	}
	g, err := b.inputs.Gather(ctx, x, &e.Logs, nil)
	if err != nil {
		return nil, err
	}
	t, err := e.Timeline(ctx, x)
	if err != nil {
		return nil, err
	}
	in := g.Input()
	if err := e.Redact(&in, t); err != nil {
		return nil, err
	}
	build, err := b.compilePast(ctx, x, in, t)
	return &packed{build: build, in: in}, err
}

// computed is what the generators of a build came to.
type computed struct {
	chosen *source.Chosen // whose sources outputs was told to keep
	wants  []want
	made   []made
}

// unchanged reports whether the generators would give the last build the same again.
func (b *Builder) unchanged(ctx context.Context, x *session.Session, e *entry, g *source.Gathered) bool {
	if b.moved(ctx, x, e, g) {
		return false
	}
	c := &e.computed
	if len(c.wants) == 0 {
		return true
	}
	e.waits.raise()
	defer e.waits.lower()
	return b.outputs.unchanged(ctx, x, g.Owner.UID, g.Owner.GID, c.wants, c.made, b.inputs.WaitFor(g.Chosen.Recipe))
}

// compute adds what the generators of in's recipe make to its files, those that are wanted.
func (b *Builder) compute(ctx context.Context, x *session.Session, e *entry, g *source.Gathered, in *pack.Input, c *tokens.Counter) (err error) {
	if b.outputs != nil && e.computed.chosen != g.Chosen {
		b.outputs.retain(x, computedNames(g.Chosen.Recipe))
	}
	last := e.computed
	e.computed = computed{chosen: g.Chosen}
	if !g.Chosen.Recipe.Computes() {
		return nil
	}
	defer func() {
		if e.waits.lower(); err != nil {
			e.computed = last // which the last build goes on with
		}
	}()
	e.waits.raise()
	begin, wait := time.Now(), b.inputs.WaitFor(g.Chosen.Recipe)
	return in.Computed(e.memo, c, func(at []int, p pack.Planned) (files []blocks.File, err error) {
		var wants []want
		var runs []int // sources of wants
		for _, i := range at {
			s := &g.Chosen.Recipe.Sources[i]
			reason := g.Refused[i]
			if reason == "" && b.outputs == nil {
				reason = "commands are not run here"
			}
			if reason != "" {
				files = append(files, blocks.File{At: i, ID: s.Block, Reason: reason})
			} else {
				wants, runs = append(wants, b.want(x, g, in, i, s, p)), append(runs, i)
			}
		}
		if len(wants) == 0 {
			return files, nil
		}

		left := wait
		if wait >= 0 {
			left = max(0, wait-time.Since(begin))
		}
		made := b.outputs.gather(ctx, x, g.Owner.UID, g.Owner.GID, wants, left)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if made == nil {
			return nil, errWaits
		}
		for k, i := range runs {
			files = append(files, made[k].file(i, g.Chosen.Recipe.Sources[i].Block))
		}
		e.computed.wants, e.computed.made = append(e.computed.wants, wants...), append(e.computed.made, made...)
		return files, nil
	})
}

// file is what a generator made as the compiler takes it.
func (m *made) file(at int, block string) blocks.File {
	f := blocks.File{At: at, ID: block, Path: m.path, Data: m.data, Stale: m.stale && m.sha256 != "", Pending: m.pending && m.sha256 == "", Note: m.note}
	switch {
	case m.sha256 == "" && !m.pending:
		f.Reason = m.reason
	case m.reason != "":
		f.Note = strings.TrimPrefix(f.Note+"; "+m.reason, "; ")
	}
	if raw, err := hex.DecodeString(m.sha256); err == nil && len(raw) == sha256.Size {
		f.Sum = (*[sha256.Size]byte)(raw)
	}
	return f
}

func computedNames(r *recipe.Recipe) (names []string) {
	for i := range r.Sources {
		if s := &r.Sources[i]; s.Type.Computed() {
			names = append(names, outputName(s))
		}
	}
	if s := source.SummarizerSource(r); s != nil {
		names = append(names, outputName(s))
	}
	return names
}

// want expands the commands of the source s, which stands at at.
func (b *Builder) want(x *session.Session, g *source.Gathered, in *pack.Input, at int, s *recipe.Source, p pack.Planned) want {
	words := *g.Words
	words.Cwd = b.inputs.Mapped(g.Words.Cwd)
	dir := words.Cwd
	if dir == "" {
		dir = path.Join(words.Home, words.Rel)
	}
	w := want{name: outputName(s), cache: s.Cache, dir: dir}
	env := b.environment(g, &words)
	var outputs []string
	for _, stage := range s.Stages {
		c := source.Command{Session: x.ID(), Env: env, Dir: dir, Timeout: stage.Timeout}
		for _, arg := range stage.Command {
			c.Args = append(c.Args, words.Expand(arg, s.Origin))
		}
		if stage.Output != "" {
			out := b.inputs.Mapped(g.Words.Expand(stage.Output, s.Origin))
			if !path.IsAbs(out) {
				out = path.Join(dir, out)
			}
			c.Output = path.Clean(out)
			outputs = append(outputs, c.Output)
		}
		if at == source.OfSummarizer {
			b.summarizerCommand(&c, g.Chosen.Recipe.Summarizer, g.Owner.UID)
		}
		w.stages = append(w.stages, c)
	}
	if words.Cwd != "" {
		delta := source.Delta{Run: g.Ref.Session, Journal: path.Join(words.Home, words.Rel, ctxabi.JournalFile)}
		delta.Make = slices.ContainsFunc(outputs, func(out string) bool { return strings.HasPrefix(out, path.Join(dir, source.DeltaDir)+"/") })
		for i := range w.stages {
			w.stages[i].Delta = &delta
		}
	}
	w.hold = b.inputs.Holder(x, g, at, outputs)
	entry := sha256.New()
	fmt.Fprintf(entry, "%q %+v %s\n", w.dir, w.cache, s.Refresh)
	for _, c := range w.stages {
		fmt.Fprintf(entry, "%q %q %q %v\n", c.Args, c.Env, c.Output, c.Timeout)
	}
	w.entry = hex.EncodeToString(entry.Sum(nil))
	maker := sha256.New()
	for _, c := range w.stages {
		env := slices.DeleteFunc(slices.Clone(c.Env), func(v string) bool { return strings.HasPrefix(v, "CTX_BUDGET=") })
		fmt.Fprintf(maker, "%q %q %q %q\n", c.Dir, c.Args, env, c.Output)
	}
	w.maker = hex.EncodeToString(maker.Sum(nil))
	if s.OnMissing == recipe.Error {
		w.patience = startGrace
		for _, c := range w.stages {
			w.patience += c.Timeout
		}
	}
	if w.history = fmt.Sprintf("messages %s events %s", in.Head, in.EventsHead); s.Refresh == recipe.Compaction {
		w.history = fmt.Sprintf("compactions %d", p.Compactions)
	}
	return w
}

// summarizerCommand fits a command for a summarizer: it runs in an empty directory, with hooks of
// ctxfs off. For an API it is ctxfs itself, and it gets the key if the daemon has it and belongs to
// the user uid; a variable of the recipe or of the session wins.
func (b *Builder) summarizerCommand(c *source.Command, s *recipe.Generator, uid uint32) {
	c.Empty = true
	c.Env = append(slices.Clone(c.Env), ctxabi.HookEnv+"="+ctxabi.HookOff)
	if s.OpenAI != "" {
		c.Args[0] = "/proc/self/exe" // the launcher, which becomes the command
	}
	key, ok := os.LookupEnv(s.KeyEnv)
	known := slices.ContainsFunc(c.Env, func(v string) bool { return strings.HasPrefix(v, s.KeyEnv+"=") })
	if s.KeyEnv != "" && ok && !known && int(uid) == os.Getuid() {
		c.Env = append(c.Env, s.KeyEnv+"="+key)
	}
}

// startGrace is how much longer than the timeouts of its stages a required source is waited for: a run that is ended
// by its timeout then has ended, and its reason stands in the error.
const startGrace = 5 * time.Second

// standardPath is where a generator's commands are looked for.
const standardPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment is all that a generator has of one, in order of the names.
func (b *Builder) environment(g *source.Gathered, words *source.Variables) []string {
	env := map[string]string{"PATH": standardPath, "HOME": b.homeOf(g.Owner.UID), "LANG": "C.UTF-8"}
	maps.Copy(env, words.Env)
	here := path.Join(words.Home, words.Rel)
	maps.Copy(env, map[string]string{
		"DELTA_RUN_ID": g.Ref.Session, "DELTA_AGENT_HOME": words.Home, "DELTA_CWD": words.Cwd,
		"CTX_SESSION": here, "CTX_AGENT": g.Ref.Agent, "CTX_BUDGET": strconv.Itoa(g.Budget()),
	})
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// homeOf is a user's home directory; "/" for a uid that the system does not know.
func (b *Builder) homeOf(uid uint32) string {
	if dir, ok := b.homes.Load(uid); ok {
		return dir.(string)
	}
	dir := "/"
	if u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10)); err == nil && u.HomeDir != "" {
		dir = u.HomeDir
	}
	b.homes.Store(uid, dir)
	return dir
}

// moved reports whether there is more to say of the summarizer than in what was compiled last.
func (b *Builder) moved(ctx context.Context, x *session.Session, e *entry, g *source.Gathered) bool {
	s := &e.summarizer
	if g.Chosen.Recipe.Summarizer != nil && s.note != e.newest.Load().in.SummaryNote {
		return true
	}
	a := s.asked
	return a != nil && !b.outputs.unchanged(ctx, x, g.Owner.UID, g.Owner.GID, []want{a.want}, []made{a.made}, 0)
}
