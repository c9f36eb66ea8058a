package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	fscli "github.com/ctxfs/ctxfs/fs/cli"
	"github.com/ctxfs/ctxfs/internal/inputs"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// genManCmd writes the man pages; 'make man' calls it.
func genManCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "gen-man DIR [FILES.md]",
		Short:  "Write the man pages into DIR: of each verb, of the helper of mount(8), and of FILES.md as ctxfs(5)",
		Hidden: true,
		Args:   cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			dir := args[0]
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			source := "ctxfs " + thisVersion().Version
			root := c.Root()
			root.DisableAutoGenTag = true
			// The date is that of SOURCE_DATE_EPOCH where it is set, so that the same source gives the same pages.
			if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: source, Manual: "ctxfs"}, dir); err != nil {
				return err
			}
			helper := fscli.MountHelperCommand()
			helper.DisableAutoGenTag = true
			var page bytes.Buffer
			if err := doc.GenMan(helper, &doc.GenManHeader{Title: fscli.MountHelperName, Section: "8", Source: source, Manual: "ctxfs"}, &page); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, fscli.MountHelperName+".8"), page.Bytes(), 0o644); err != nil {
				return err
			}
			if len(args) < 2 {
				return nil
			}
			text, err := inputs.ReadFile(args[1])
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "ctxfs.5"), filesPage(text, source, pageDate()), 0o644)
		},
	}
}

var (
	firstHeading = lazy.Regexp(`\A# .*\n`)
	linkInText   = lazy.Regexp(`\[([^]\n]+)\]\([^)\n]*\)`)
)

// filesPage makes a page of section 5 of a Markdown document, whose first heading it replaces.
func filesPage(markdown []byte, source string, date time.Time) []byte {
	head := fmt.Sprintf("%% \"CTXFS\" \"5\" %q %q \"ctxfs\"\n# NAME\nctxfs - every file of a mount, with an example\n\n# DESCRIPTION\n",
		date.Format("Jan 2006"), source)
	markdown = linkInText().ReplaceAll(markdown, []byte("$1")) // to other documents
	return md2man.Render(append([]byte(head), firstHeading().ReplaceAll(markdown, nil)...))
}

// pageDate is the date of the source where SOURCE_DATE_EPOCH says it, else today.
func pageDate() time.Time {
	if s, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(s, 0).UTC()
	}
	return time.Now().UTC()
}
