package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/inputs"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
)

// verdict is what verify found in one session.
type verdict struct {
	Session  string   `json:"session"`
	Problems []string `json:"problems"`
	Notes    []string `json:"notes"`
}

func verifyCmd() *cobra.Command {
	var store, head string
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify [flags] [SESSION...]",
		Short: "Check every byte of the history",
		Long: `Read all of the given sessions, or of every session of the store: each record, the
hash of each commit, the chain of the commits, the index, and every chunk (blobs
that users stored, packs that were read, the bytes behind the rows of swap and
dedup). verify changes nothing and does not disturb a running daemon. It prints one
line for each problem; the exit code is 1 if there is one. What the next open
repairs by itself, such as records that lost their row when the power failed, is a
note and not a problem. ctxfs fsck also looks at all other files, and repairs.

verify alone cannot see that somebody cut off the end of a log together with all
that refers to it. --head FILE compares with what ctxfs head printed earlier: it
verifies the sessions of these heads, and that they begin with what they had then.

` + locate.SessionHelp,
		Example: "  ctxfs verify\n  ctxfs verify coder/s1\n  ctxfs verify --head /backup/heads\n  ctxfs verify --json | jq '.[] | select(.problems != [])'",
		RunE: func(c *cobra.Command, args []string) error {
			dir, wanted, err := locate.Sessions(args, store)
			if err != nil {
				return err
			}
			var heads []session.Head
			if head != "" {
				if heads, err = readHeads(head, c.InOrStdin()); err != nil {
					return err
				}
				wanted = withHeads(dir, wanted, heads)
			}
			return verify(c.Context(), dir, wanted, heads, asJSON, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	cli.StoreFlag(c, &store)
	c.Flags().StringVar(&head, "head", "", "compare with the heads in `FILE`, which ctxfs head printed (- for standard input)")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON list of sessions with their problems")
	return c
}

// withHeads adds the sessions that heads speak of to those that are wanted.
func withHeads(dir string, wanted []locate.Place, heads []session.Head) []locate.Place {
	for _, h := range heads {
		if at := (locate.Place{Store: dir, Ref: h.Ref}); !slices.Contains(wanted, at) {
			wanted = append(wanted, at)
		}
	}
	return wanted
}

// readHeads reads a file of heads, "-" for the standard input. Blank lines and those that begin with # are passed over.
func readHeads(name string, in io.Reader) (heads []session.Head, err error) {
	var data []byte
	if name == "-" {
		data, err = io.ReadAll(in)
	} else {
		data, err = inputs.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		h, err := session.ParseHead(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		heads = append(heads, h)
	}
	if len(heads) == 0 {
		return nil, fmt.Errorf("%s contains no head; 'ctxfs head SESSION' prints them", name)
	}
	return heads, nil
}

func verify(ctx context.Context, dir string, wanted []locate.Place, heads []session.Head, asJSON bool, out, errOut io.Writer) (err error) {
	store, err := cli.OpenToRead(dir)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()

	if wanted == nil {
		for ref := range store.Sessions() {
			wanted = append(wanted, locate.Place{Store: dir, Ref: ref})
		}
	}
	verdicts := []verdict{}
	bad := 0
	for _, at := range wanted {
		v := verifySession(ctx, store, at, heads)
		if len(v.Problems) > 0 {
			bad++
		}
		verdicts = append(verdicts, v)
		if asJSON {
			continue
		}
		for _, p := range v.Problems {
			fmt.Fprintf(out, "%s: %s\n", v.Session, p)
		}
		for _, p := range v.Notes {
			fmt.Fprintf(out, "%s: note: %s\n", v.Session, p)
		}
	}
	if asJSON {
		err = cli.PrintJSON(out, verdicts)
	} else if bad == 0 {
		_, err = fmt.Fprintf(out, "%s, no problems\n", sessions(len(verdicts)))
	}
	if bad > 0 {
		fmt.Fprintf(errOut, "ctxfs: problems in %d of %s\n", bad, sessions(len(verdicts)))
		err = errors.Join(cli.Silent{Code: cli.ExitFailed}, err)
	}
	return err
}

func sessions(n int) string {
	if n == 1 {
		return "1 session"
	}
	return fmt.Sprintf("%d sessions", n)
}

// verifySession returns what is wrong; that it could not look counts as well.
func verifySession(ctx context.Context, store *session.Store, at locate.Place, heads []session.Head) verdict {
	v := verdict{Session: at.Ref.Path(), Problems: []string{}, Notes: []string{}}
	found, err := check.Verify(ctx, store, at.Ref)
	if x, opened := store.Session(at.Ref); err == nil && opened == nil {
		var chunks []check.Problem
		chunks, err = builder.CheckChunks(ctx, x)
		found = append(found, chunks...)
	}
	for _, h := range heads {
		if err == nil && h.Ref == at.Ref {
			var more []check.Problem
			more, err = check.VerifyHead(store, h)
			found = append(found, more...)
		}
	}
	for _, p := range found {
		if p.Severity == check.Noted {
			v.Notes = append(v.Notes, p.String())
		} else {
			v.Problems = append(v.Problems, p.String())
		}
	}
	if err != nil {
		v.Problems = append(v.Problems, err.Error())
	}
	return v
}
