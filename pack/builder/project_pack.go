package builder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/project"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/session"
)

// What packs show of the memory of a workspace changes with every session of it, and the prefix of a pack must not. So
// it is taken at the first pack of a session and whenever the session was compacted since, and kept with the session:
// packs of an earlier moment show what packs showed then.

// Bounds of what is taken.
const (
	maxProjectNotes  = 16 << 10 // bytes of notes.md
	maxProjectMemory = 24 << 10 // of the memory of the other sessions
)

// projectRow is a line of [session.ProjectFile]: what packs show from a message on.
type projectRow struct {
	Dir     string `json:"dir"`            // the workspace
	From    int    `json:"from"`           // messages that the session had
	Settled int    `json:"settled"`        // of these, before its last compaction
	SHA256  string `json:"sha256"`         // of the text, hex
	Text    string `json:"text,omitempty"` // "" also where an earlier row has the same hash
}

// entryProject holds these rows.
type entryProject struct {
	mu   sync.Mutex                   // held while the rows are read
	rows atomic.Pointer[[]projectRow] // nil: not read yet; a list never changes
	size atomic.Int64
}

func (p *entryProject) bytes() int { return int(p.size.Load()) }

// all returns the rows of session x, the oldest first.
func (p *entryProject) all(x *session.Session) []projectRow {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rows.Load() == nil {
		p.set(readProject(x))
	}
	return *p.rows.Load()
}

// readProject reads the rows of session x. It skips a row without its text.
func readProject(x *session.Session) (rows []projectRow) {
	texts := map[string]string{} // by hash
	x.EachDerivedLine(session.ProjectFile, func(line []byte) bool {
		var r projectRow
		if json.Unmarshal(line, &r) != nil {
			return true
		}
		if sumOf(r.Text) == r.SHA256 {
			texts[r.SHA256] = r.Text
		}
		if text, ok := texts[r.SHA256]; ok {
			r.Text = text
			rows = append(rows, r)
		}
		return true
	})
	return rows
}

func isKept(rows []projectRow, sum string) bool {
	return slices.ContainsFunc(rows, func(r projectRow) bool { return r.SHA256 == sum })
}

func (p *entryProject) set(rows []projectRow) {
	size := 0
	for i := range rows {
		size += 128 + len(rows[i].Text)
	}
	p.size.Store(int64(size))
	p.rows.Store(&rows)
}

// keep adds a row. One that cannot be stored counts as long as this process runs.
func (p *entryProject) keep(x *session.Session, r projectRow) {
	rows, stored := p.all(x), r
	if isKept(rows, r.SHA256) {
		stored.Text = ""
	}
	if line, err := json.Marshal(stored); err == nil {
		x.AppendDerived(session.ProjectFile, line)
	}
	p.set(append(slices.Clone(rows), r))
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// at returns the row for a pack of the first so many messages, or the oldest if there was none yet; nil: the session has
// none for the workspace.
func (p *entryProject) at(x *session.Session, dir string, messages int) *projectRow {
	rows := p.all(x)
	first := -1
	for i := range slices.Backward(rows) {
		if rows[i].Dir != dir {
			continue
		}
		if first = i; rows[i].From <= messages {
			break
		}
	}
	if first < 0 {
		return nil
	}
	return &rows[first]
}

// projectOf returns the workspace whose memory packs of in show, or "".
func (b *Builder) projectOf(x *session.Session, in *pack.Input) string {
	if !in.UsedRecipe().Has(recipe.TypeProject) {
		return ""
	}
	return b.Workspace(x)
}

// Workspace returns the workspace whose memory x shares, or "".
func (b *Builder) Workspace(x *session.Session) string {
	if ref := x.Ref(); ref.Space == "" {
		return x.Store().Workspace(ref, b.config.MapPath)
	}
	return ""
}

func isProject(s recipe.Source) bool { return s.Type == recipe.TypeProject }

// withProject returns in with the text of r as the content of the recipe's sources that show the memory; nil: without.
func withProject(in pack.Input, r *projectRow) pack.Input {
	sources := in.UsedRecipe().Sources
	in.Files = slices.DeleteFunc(slices.Clone(in.Files), func(f blocks.File) bool { return f.At >= 0 && isProject(sources[f.At]) })
	if r == nil || r.Text == "" {
		return in
	}
	slug, err := ctxabi.ProjectSlug(r.Dir)
	if err != nil {
		return in
	}
	for at := range sources {
		if isProject(sources[at]) {
			in.Files = append(in.Files, blocks.File{At: at, ID: sources[at].Block, Path: path.Join("../../../..", ctxabi.ProjectsDir, slug, ctxabi.ProjectMemoryFile), Data: []byte(r.Text)})
		}
	}
	slices.SortStableFunc(in.Files, func(f, g blocks.File) int { return f.At - g.At })
	return in
}

// addPastProject adds what packs of so many messages as in has showed of the workspace's memory.
func (b *Builder) addPastProject(x *session.Session, e *entry, in *pack.Input) error {
	dir := b.projectOf(x, in)
	if dir == "" {
		*in = withProject(*in, nil)
		return nil
	}
	r := e.project.at(x, dir, in.Messages.Len())
	if r != nil && e.Redacts() {
		text, err := b.Redacted(x, []byte(r.Text))
		if err != nil {
			return err
		}
		r = &projectRow{Dir: r.Dir, Text: string(text)}
	}
	*in = withProject(*in, r)
	return nil
}

// oldProject is the error for a pack whose memory is older than its last compaction. Its value is
// the number of messages before that compaction. A plan cannot predict a compaction that only a
// tighter fold causes.
type oldProject int

func (n oldProject) Error() string {
	return fmt.Sprintf("the memory is older than the compaction of %d messages", int(n))
}

// checkProject returns an oldProject if the memory in a pack of in is older than the pack's last compaction.
func (b *Builder) checkProject(x *session.Session, e *entry, in *pack.Input, build *pack.Build) error {
	if dir := b.projectOf(x, in); dir != "" {
		if r := e.project.at(x, dir, in.Messages.Len()); r != nil && r.Settled < build.Settled {
			return oldProject(build.Settled)
		}
	}
	return nil
}

// addProject adds the workspace's memory to in. It renders the memory again if the session has none
// yet or was compacted since. compacted is the lower bound of the messages before the last
// compaction; the plan of the pack may raise it.
func (b *Builder) addProject(ctx context.Context, x *session.Session, e *entry, in *pack.Input, c *tokens.Counter,
	compacted int) error {
	dir := b.projectOf(x, in)
	if dir == "" {
		return nil
	}
	settled := func(r *projectRow) (int, error) {
		now := withProject(*in, r)
		p, err := now.Plan(e.memo, c)
		return max(compacted, p.Settled(now.History())), err
	}
	r := e.project.at(x, dir, in.Messages.Len())
	if r != nil {
		n, err := settled(r)
		if err != nil {
			return err
		}
		if n <= r.Settled {
			*in = withProject(*in, r)
			return nil
		}
	}
	text, err := b.projectText(ctx, x, dir)
	if errors.Is(err, ctxabi.ErrNoMemory) { // the next pack tries again
		*in = withProject(*in, r)
		return nil
	}
	if err != nil {
		return err
	}
	now := projectRow{Dir: dir, From: in.Messages.Len(), SHA256: sumOf(text), Text: text}
	if now.Settled, err = settled(&now); err != nil {
		return err
	}
	e.project.keep(x, now)
	*in = withProject(*in, &now)
	return nil
}

// projectText returns what there is to show: what people wrote of the workspace, then what its other sessions know. It
// returns the errors of [Builder.ProjectMemory].
func (b *Builder) projectText(ctx context.Context, x *session.Session, dir string) (string, error) {
	slug, err := ctxabi.ProjectSlug(dir)
	if err != nil {
		return "", nil
	}
	uid := x.Ref().UID
	var text strings.Builder
	if notes, _, err := x.Store().ProjectNotes(uid, slug); err == nil && len(strings.TrimSpace(string(notes))) > 0 {
		if notes, err = b.Redacted(x, notes); err != nil {
			return "", err
		}
		short := strings.TrimRight(string(notes), "\n")
		if len(short) > maxProjectNotes {
			short = compress.Clip(short, maxProjectNotes)
		}
		text.WriteString("# Notes of " + project.Line(dir) + "\n" + short + "\n")
	}
	memory, _, err := b.ProjectMemory(ctx, x.Store(), uid, slug, x.ID(), maxProjectMemory)
	if err != nil {
		return "", err
	}
	if memory != "" && text.Len() > 0 {
		text.WriteString("\n")
	}
	return text.String() + memory, nil
}
