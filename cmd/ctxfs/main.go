package main

import (
	"os"
	"path/filepath"
)

func main() {
	if filepath.Base(os.Args[0]) == mountHelperName {
		os.Exit(mountHelper(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(Run(os.Args[1:], os.Stdout, os.Stderr))
}
