package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/session"
)

// trust decides what is done outside of the store as a session's owner. Files there are
// read, and generators run, by his rights; whoever may write the files that say so could act as him.
type trust struct {
	ref        ctxabi.Ref
	rel        string // the session's directory in the agent's home
	owner      uint32 // of the session
	mountpoint string // "": not known
	chosen     *chosen
	cwd, env   *stocked
	rows       map[ctxabi.Trust]bool
}

func (b *Builder) newTrust(x *session.Session, g *gathered, rel string, cwd, env *stocked) *trust {
	t := &trust{ref: g.ref, rel: rel, owner: g.owner.uid, mountpoint: b.config.Mountpoint, chosen: g.chosen, cwd: cwd, env: env, rows: map[ctxabi.Trust]bool{}}
	if t.needed() {
		data, err := x.Store().Trust(t.owner)
		rows, perr := ctxabi.ParseTrust(data)
		if err == nil && perr == nil {
			for _, row := range rows {
				t.rows[row] = true
			}
		}
	}
	return t
}

// needed says whether anything depends on what the owner trusts.
func (t *trust) needed() bool {
	if t.ref.Space != "" {
		return true
	}
	for _, f := range t.chosen.recipe.Files {
		if f.Imported || t.foreign(f.Path) {
			return true
		}
	}
	return false
}

// foreign says that a recipe file is not the session owner's, as far as is known.
func (t *trust) foreign(name string) bool {
	uid, known := t.chosen.owners[name]
	return !known || uid != t.owner
}

// ask says why the file name (relative to the agent's home) with that content must be trusted first, or "".
func (t *trust) ask(name, sum string) string {
	at := path.Join(t.ref.AgentHome(), name)
	if t.rows[ctxabi.Trust{Path: at, SHA256: sum}] {
		return ""
	}
	if t.mountpoint != "" {
		at = path.Join(t.mountpoint, at)
	}
	return fmt.Sprintf("not trusted; look at the file and run: ctxfs trust %s", at)
}

// own says why a file of a session in a shared space does not speak for its owner, or "".
func (t *trust) own(name string, f *stocked) string {
	if f.absent || f.sign.uid == t.owner && f.sign.mode&0o022 == 0 {
		return ""
	}
	sum := sha256.Sum256(f.data)
	return t.ask(path.Join(t.rel, name), hex.EncodeToString(sum[:]))
}

// outside says why files outside of the store are not read, or "".
func (t *trust) outside() string {
	if t.ref.Space == "" {
		return ""
	}
	for _, f := range t.chosen.recipe.Files {
		if reason := t.ask(f.Path, f.SHA256); reason != "" {
			return reason
		}
	}
	if reason := t.own(ctxabi.CwdFile, t.cwd); reason != "" {
		return reason
	}
	if len(t.chosen.recipe.Files) == 0 {
		return "" // the default recipe uses no variable of context/env
	}
	return t.own(ctxabi.EnvFile, t.env)
}

// generator says why the generators of a source are not run, or "".
func (t *trust) generator(s *recipe.Source) string {
	if reason := t.outside(); reason != "" {
		return reason
	}
	for _, f := range t.chosen.recipe.Files {
		if f.Path == s.Origin.File && (f.Imported || t.foreign(f.Path)) {
			return t.ask(f.Path, f.SHA256)
		}
	}
	return ""
}
