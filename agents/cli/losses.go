package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/agents/transcript"
	"github.com/ctxfs/ctxfs/internal/cli"
)

// losses are those of a verb, and what its flags say of them.
type losses struct {
	file   string // that is written, "" for none
	strict bool
	all    transcript.Losses
}

func lossFlags(c *cobra.Command, l *losses) {
	c.Flags().StringVar(&l.file, "losses", "", "write all losses to `FILE`, one JSON object a line")
	c.Flags().BoolVar(&l.strict, "strict", false, "exit with 1 if something was lost")
}

// Most kinds of loss that are told, and most places of each.
const (
	toldKinds  = 20
	toldPlaces = 5
)

// tell prints the losses, equal ones together, writes the file that was asked
// for, and gives the error that they mean.
func (l *losses) tell(w io.Writer) error {
	if l.file != "" {
		if err := l.write(); err != nil {
			return err
		}
	}
	if len(l.all) == 0 {
		return nil
	}
	var kinds []string
	places := map[string][]string{}
	for _, row := range l.all {
		if places[row.What] == nil {
			kinds = append(kinds, row.What)
		}
		where := row.Where
		if row.File != "" {
			where = row.File + " " + where
		}
		places[row.What] = append(places[row.What], where)
	}
	fmt.Fprintf(w, "%s:\n", strings.Replace(cli.Plural(len(l.all), "loss"), "losss", "losses", 1))
	for _, what := range kinds[:min(len(kinds), toldKinds)] {
		where := places[what]
		more := ""
		if n := len(where) - toldPlaces; n > 0 {
			where, more = where[:toldPlaces], fmt.Sprintf(" and %d more", n)
		}
		fmt.Fprintf(w, "  %s%s: %s\n", strings.Join(where, ", "), more, what)
	}
	if n := len(kinds) - toldKinds; n > 0 {
		fmt.Fprintf(w, "  and %s more; --losses FILE writes all\n", cli.Plural(n, "kind"))
	}
	if l.strict {
		return cli.Silent{Code: cli.ExitFailed}
	}
	return nil
}

func (l *losses) write() error {
	f, err := os.OpenFile(l.file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	rows := json.NewEncoder(out)
	rows.SetEscapeHTML(false)
	for _, row := range l.all {
		rows.Encode(row)
	}
	err = out.Flush()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
