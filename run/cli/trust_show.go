package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/mounts"
	packcli "github.com/ctxfs/ctxfs/pack/cli"
	"github.com/ctxfs/ctxfs/pack/recipe"
	packsource "github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/run/trust"
)

// tellGenerators prints what the recipe called name in a mount would run; arg is what
// the user calls it. The files of packages that it names with that are what it gives, by their names in the mount.
func tellGenerators(out io.Writer, mountpoint, name, arg string) (with []string, err error) {
	home, entry := trust.AgentHome(name)
	r, err := recipeWith(mountpoint, home, entry, arg)
	var wrong recipe.Problems
	if errors.As(err, &wrong) {
		f, _ := packcli.FindRecipe(arg)
		report := packcli.Report{Problems: f.Problems(wrong)}
		report.Print(out)
		return nil, errors.New("nothing was trusted: the recipe has mistakes")
	}
	if err != nil {
		return nil, err
	}
	m, _, _ := mounts.At(mountpoint)
	secrets, err := packcli.StoreRedactor(cli.RedactFlags{}, m.Source, mountpoint)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, v := range r.Env {
		if at := r.Origins["env."+v.Name]; at.File == entry {
			n++
			fmt.Fprintf(out, "%s:%d: sets %s for what runs\n", arg, at.Line, commandLine([]string{v.Name + "=" + packcli.RedactValue(secrets, v.Name, v.Value)}))
		}
	}
	for _, p := range packsource.Programs(r, filepath.Join(mountpoint, home), trust.InSpace(home)) {
		if p.Origin.File != entry {
			continue
		}
		for _, stage := range p.Stages {
			n++
			fmt.Fprintf(out, "%s:%d: %s runs %s\n", arg, p.Origin.Line, p.Name, commandLine(packcli.RedactCommand(secrets, stage.Command)))
		}
		for _, rel := range p.Files {
			file := path.Join(home, rel)
			if !asksForTrust(filepath.Join(mountpoint, file), trust.InSpace(home)) || slices.Contains(with, file) {
				continue
			}
			with = append(with, file)
			fmt.Fprintf(out, "  and with it, as it is now: %s\n", rel)
		}
	}
	if n == 0 {
		fmt.Fprintf(out, "%s runs nothing\n", arg)
	}
	return with, nil
}

// asksForTrust reports whether a file that commands name must be trusted by the calling user. In a shared space one that is the
// user's, and that nobody else can write, need not be.
func asksForTrust(file string, space bool) bool {
	fi, err := os.Stat(file)
	if err != nil || !fi.Mode().IsRegular() {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	return !space || !ok || int(st.Uid) != os.Getuid() || fi.Mode().Perm()&0o022 != 0
}

// isRecipe reports whether a file is a recipe, not a script: by its name, or because the agent's own recipe imports it.
func isRecipe(mountpoint, name string) bool {
	if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" {
		return true
	}
	home, entry := trust.AgentHome(name)
	r, err := ownRecipe(filepath.Join(mountpoint, home))
	return err == nil && imports(r, entry)
}

func ownRecipe(home string) (*recipe.Recipe, error) {
	file := packcli.RecipeFile{Arg: filepath.Join(home, ctxabi.AgentRecipeFile), Home: home, Entry: ctxabi.AgentRecipeFile}
	return file.Load()
}

func imports(r *recipe.Recipe, entry string) bool {
	return slices.ContainsFunc(r.Files, func(f recipe.File) bool { return f.Path == entry })
}

// recipeWith returns a recipe that entry of an agent's home is a part of: the agent's own where it imports it, else entry alone.
func recipeWith(mountpoint, home, entry, arg string) (*recipe.Recipe, error) {
	if home == "" {
		f, err := packcli.FindRecipe(arg)
		if err != nil {
			return nil, err
		}
		return f.Load()
	}
	dir := filepath.Join(mountpoint, home)
	if r, err := ownRecipe(dir); err == nil && imports(r, entry) {
		return r, nil
	}
	return packcli.RecipeFile{Arg: arg, Home: dir, Entry: entry}.Load()
}

// commandLine writes a command so that it is clear where each argument ends.
func commandLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if a == "" || strings.ContainsAny(strings.ReplaceAll(a, "[redacted:", ""), " \t\n\"'\\;|&<>()*?#`") {
			words[i] = strconv.Quote(a)
		}
	}
	return strings.Join(words, " ")
}
