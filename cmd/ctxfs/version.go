package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
)

// commit is what the program was built from; 'make build' sets it.
var commit string

type versionInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Format  int    `json:"store_format"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func versionCmd() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of the program, the commit it was built from and the format of\nthe stores it writes. ctxfs --version prints the same.",
		Example: "  ctxfs version\n  ctxfs version --json | jq -r .version",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			v := thisVersion()
			if asJSON {
				return cli.PrintJSON(c.OutOrStdout(), v)
			}
			fmt.Fprintln(c.OutOrStdout(), "ctxfs", v)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func thisVersion() versionInfo {
	return versionInfo{
		Version: ctxabi.Version, Commit: commit, Format: ctxabi.FormatVersion,
		Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

func (v versionInfo) String() string {
	from := ""
	if v.Commit != "" {
		from = " commit " + v.Commit
	}
	return fmt.Sprintf("%s%s (store format %d, %s, %s)", v.Version, from, v.Format, v.Go, v.System)
}
