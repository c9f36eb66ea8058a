package source

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// maxProblems is how many rows one wrong recipe gets in errors.jsonl.
const maxProblems = 10

// Chosen is the recipe that a session's pack is made by. It does not change.
type Chosen struct {
	Recipe *recipe.Recipe
	entry  string              // path of the file asked for, relative to the agent's home; "": none, the default one
	read   map[string]*content // all that was looked at to read it
	env    *content            // context/env, whose variables it was checked with
	notes  []string            // what is wrong with the file, for the report
	owners map[string]uint32   // of the files it was read from
}

// same reports whether nothing that c was made from changed.
func (c *Chosen) same(h *home, entry string, env *content) bool {
	if c == nil || c.entry != entry || c.env != env {
		return false
	}
	for rel, was := range c.read {
		if h.file(rel, ctxabi.MaxControl).content != was {
			return false
		}
	}
	return true
}

// recipeEntry names the recipe's file: the session's before the agent's; "": neither is there.
func recipeEntry(h *home, rel string) string {
	for _, name := range []string{path.Join(rel, ctxabi.RecipeFile), ctxabi.AgentRecipeFile} {
		if f := h.file(name, ctxabi.MaxControl); !f.absent {
			return name
		}
	}
	return ""
}

// choose returns the recipe of the session whose directory in h is rel: what its files say, else
// the last good one, else the default one. What is wrong with the files is reported once.
func choose(x *session.Session, h *home, rel string, env *content, last *Chosen) *Chosen {
	entry := recipeEntry(h, rel)
	if last.same(h, entry, env) {
		return last
	}
	c := &Chosen{entry: entry, env: env, read: map[string]*content{}, owners: map[string]uint32{}}
	kept := readLast(x)
	if entry == "" {
		c.Recipe = recipe.Default()
		if kept.Recipe != nil || kept.Reported != "" {
			LastRecipe{}.write(x)
		}
		return c
	}
	r, err := recipe.Load(entry, func(name string) ([]byte, error) {
		name = path.Clean(name)
		f := h.file(name, ctxabi.MaxControl)
		c.read[name], c.owners[name] = f.content, f.sign.UID
		switch {
		case f.absent:
			return nil, fs.ErrNotExist
		case f.reason != "":
			return nil, errors.New(f.reason)
		}
		return f.data, nil
	})
	problems := asProblems(entry, err)
	if err == nil {
		problems = r.Undefined(env.data)
	}
	if len(problems) == 0 {
		c.Recipe = r
		kept.keep(x, r)
		return c
	}
	c.Recipe = kept.usable(env.data)
	instead := "the last good recipe is used"
	if c.Recipe == nil {
		c.Recipe, instead = recipe.Default(), "the default recipe is used"
	}
	for _, p := range problems {
		c.notes = append(c.notes, p.String())
	}
	c.notes = append(c.notes, instead)
	kept.report(x, rel, problems, instead)
	return c
}

// asProblems is the error of a recipe that could not be loaded.
func asProblems(entry string, err error) recipe.Problems {
	var problems recipe.Problems
	if err != nil && !errors.As(err, &problems) {
		problems = recipe.Problems{{Origin: recipe.Origin{File: entry, Line: 1, Column: 1}, Text: err.Error()}}
	}
	return problems
}

// LastRecipeFile is what is remembered of a session's recipe, in its internal directory.
const LastRecipeFile = "recipe.json"

// LastRecipe is the content of keptFile.
type LastRecipe struct {
	Recipe   *recipe.Recipe `json:"recipe,omitempty"`   // the last good one
	Reported string         `json:"reported,omitempty"` // hash of the problems that errors.jsonl has been told
}

func readLast(x *session.Session) (k LastRecipe) {
	if data, err := x.Derived(LastRecipeFile); err != nil || json.Unmarshal(data, &k) != nil {
		return LastRecipe{}
	}
	return k
}

// write stores k. An empty one is removed.
func (k LastRecipe) write(x *session.Session) {
	data, err := json.Marshal(k)
	switch {
	case err != nil:
	case k.Recipe == nil && k.Reported == "":
		x.RemoveDerived(LastRecipeFile)
	default:
		x.SetDerived(LastRecipeFile, data) // at worst the next recipe that is wrong finds an older one, or none
	}
}

// LastGoodRecipe is the recipe that packs of a session are made by while its own is wrong; env is the session's context/env.
// nil: the default one is.
func LastGoodRecipe(x *session.Session, env []byte) *recipe.Recipe {
	return readLast(x).usable(env)
}

// usable is the last good recipe, or nil where a variable of it has no value any more.
func (k LastRecipe) usable(env []byte) *recipe.Recipe {
	if k.Recipe == nil || len(k.Recipe.Undefined(env)) > 0 {
		return nil
	}
	return k.Recipe
}

// keep remembers a good recipe.
func (k LastRecipe) keep(x *session.Session, r *recipe.Recipe) {
	if k.Recipe != nil && k.Recipe.Hash == r.Hash && k.Recipe.Name == r.Name && k.Reported == "" {
		return
	}
	LastRecipe{Recipe: r}.write(x)
}

// report writes the problems of a recipe into errors.jsonl, once.
func (k LastRecipe) report(x *session.Session, rel string, problems recipe.Problems, instead string) {
	sum := sha256.Sum256([]byte(problems.Error()))
	if hash := hex.EncodeToString(sum[:]); hash != k.Reported {
		k.Reported = hash
		k.write(x)
	} else {
		return
	}
	for i, p := range problems {
		row := disk.ErrorRow{Op: "recipe", Path: fromSession(rel, p.File), Errno: ctxabi.ErrnoName(ctxabi.ErrMalformed),
			Reason: p.String() + "; " + instead}
		if i == maxProblems {
			row.Reason = fmt.Sprintf("%s has %d more problems; %s names them", p.File, len(problems)-i, ctxabi.ReportFile)
		}
		x.Report(row)
		if i == maxProblems {
			return
		}
	}
}

// fromSession turns a path relative to the agent's home into one relative to the session at rel.
func fromSession(rel, name string) string {
	if inner, ok := strings.CutPrefix(name, rel+"/"); ok {
		return inner
	}
	return "../../" + name
}
