package main

import (
	"os"
	"path/filepath"

	"github.com/ctxfs/ctxfs/internal/cli"
)

func main() {
	if filepath.Base(os.Args[0]) == mountHelperName {
		os.Exit(mountHelper(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(cli.Run(os.Args[1:], os.Stdout, os.Stderr))
}
