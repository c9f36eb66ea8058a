package main

import (
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// tellGenerators prints what the recipe called name in a mount would run; arg is what
// the user calls it.
func tellGenerators(out io.Writer, mountpoint, name, arg string) error {
	r, entry, err := recipeWith(mountpoint, name, arg)
	var wrong recipe.Problems
	if errors.As(err, &wrong) {
		f, _ := findRecipe(arg)
		report := recipeReport{Problems: f.problems(wrong)}
		report.print(out)
		return errors.New("nothing was trusted: the recipe has mistakes")
	}
	if err != nil {
		return err
	}
	n := 0
	for _, s := range r.Sources {
		if s.Origin.File != entry {
			continue
		}
		for _, stage := range s.Stages {
			n++
			fmt.Fprintf(out, "%s:%d: %s runs %s\n", arg, s.Origin.Line, s.Block, commandLine(stage.Command))
		}
	}
	if n == 0 {
		fmt.Fprintf(out, "%s runs nothing\n", arg)
	}
	return nil
}

// recipeWith gives a recipe that name is a part of, and what name is called in
// it. That is the agent's own recipe where it imports name, else name alone.
func recipeWith(mountpoint, name, arg string) (*recipe.Recipe, string, error) {
	parts := strings.Split(name, "/")
	if len(parts) > 4 && parts[2] == ctxabi.AgentDir {
		home := filepath.Join(mountpoint, path.Join(parts[:4]...))
		entry := path.Join(parts[4:]...)
		own := recipeFile{filepath.Join(home, ctxabi.AgentRecipeFile), home, ctxabi.AgentRecipeFile}
		if r, err := own.load(); err == nil {
			for _, f := range r.Files {
				if f.Path == entry {
					return r, entry, nil
				}
			}
		}
	}
	f, err := findRecipe(arg)
	if err != nil {
		return nil, "", err
	}
	r, err := f.load()
	return r, f.entry, err
}

// commandLine writes a command so that it is clear where each argument ends.
func commandLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\;|&<>()*?#`") {
			words[i] = strconv.Quote(a)
		}
	}
	return strings.Join(words, " ")
}
