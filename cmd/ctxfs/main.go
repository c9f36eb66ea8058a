package main

import (
	"os"
	"path/filepath"

	fscli "github.com/ctxfs/ctxfs/fs/cli"
	"github.com/ctxfs/ctxfs/internal/cli"
)

func main() {
	if filepath.Base(os.Args[0]) == fscli.MountHelperName {
		os.Exit(fscli.MountHelper(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(cli.Run(os.Args[1:], os.Stdout, os.Stderr))
}
