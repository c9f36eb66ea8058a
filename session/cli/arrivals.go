package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/inputs"
	"github.com/ctxfs/ctxfs/internal/locate"

	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

func arrivalsCmd() *cobra.Command {
	var store string
	var events bool
	c := &cobra.Command{
		Use:   "arrivals [flags] FILE|SESSION",
		Short: "Print who wrote what and when, as JSON",
		Long: `Print the arrival rows of a session, one JSON object a line: which bytes of the
log each commit added, their SHA-256, the value of the chain, when, by whom. FILE is
a file of rows (.ctxfs/arrivals in a session of a store, a copy of it, or what a
repair moved to the quarantine), of this or an older format. It is only read.

The exit code is 1 if a row is damaged or the last one is torn; the others are
printed. Behind a damaged row "chain" has its first 16 digits, until a row that
stores all of it.

` + locate.SessionHelp,
		Example: "  ctxfs arrivals coder/s1 | jq -r '[.at / 1e9 | todate, .uid, .len] | @tsv'\n  ctxfs arrivals --events coder/s1\n  ctxfs arrivals .ctxfs/arrivals | tail -n 1",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := arrivalsOf(args[0], store, events)
			if err != nil {
				return err
			}
			return printArrivals(file, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	cli.StoreFlag(c, &store)
	c.Flags().BoolVar(&events, "events", false, "the rows of the session's events.jsonl, instead of messages.jsonl")
	return c
}

// arrivalsOf returns the file of rows that arg names, or that of the session that it names.
func arrivalsOf(arg, store string, events bool) (string, error) {
	if fi, err := os.Stat(arg); err == nil && fi.Mode().IsRegular() {
		return arg, nil
	}
	at, err := locate.Session(arg, store)
	if err != nil {
		return "", err
	}
	s, err := cli.OpenToRead(at.Store)
	if err != nil {
		return "", err
	}
	x, err := s.Session(at.Ref)
	if err = cmp.Or(err, s.Close()); err != nil {
		return "", err
	}
	logName := ctxabi.MessagesFile
	if events {
		logName = ctxabi.EventsFile
	}
	return filepath.Join(x.Dir(), log.ArrivalsFile(logName)), nil
}

func printArrivals(file string, out, errOut io.Writer) error {
	f, err := inputs.OpenFile(file)
	if err != nil {
		return err
	}
	defer f.Close()
	found, err := arrival.Print(out, f)
	torn := new(arrival.TornError)
	switch isTorn := errors.As(err, torn); {
	case err != nil && !isTorn:
		return fmt.Errorf("%s: %w", file, err)
	case found.Rows == 0 && len(found.Damaged) > 0:
		return fmt.Errorf("%s: it has no arrival row", file)
	case len(found.Damaged) == 0 && !isTorn:
		return nil
	}
	for i := 0; i < len(found.Damaged); {
		from, to := found.Damaged[i], found.Damaged[i]
		for i++; i < len(found.Damaged) && found.Damaged[i] == to+1; i++ {
			to++
		}
		if from == to {
			fmt.Fprintf(errOut, "ctxfs: %s: row %d is damaged\n", file, from)
		} else {
			fmt.Fprintf(errOut, "ctxfs: %s: rows %d-%d are damaged\n", file, from, to)
		}
	}
	if err != nil {
		fmt.Fprintf(errOut, "ctxfs: %s: %v\n", file, torn)
	}
	return cli.Silent{Code: cli.ExitFailed}
}
