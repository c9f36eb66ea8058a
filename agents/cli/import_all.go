package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/ctxfs/ctxfs/agents/transcript"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
)

// all imports every transcript below dirs, or in the places of the programs where there are none. One that fails keeps no other from
// being imported.
func (f *importFlags) all(dirs []string, out, messages io.Writer) error {
	if len(dirs) == 0 {
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		dirs = transcript.Places(home, os.Getenv)
	} else {
		for _, dir := range dirs {
			if _, err := os.Stat(dir); err != nil {
				return err
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if f.follow {
		return transcript.Follow(ctx, dirs, func(k transcript.Kept) error {
			var said bytes.Buffer
			added, err := f.one(ctx, k, io.Discard, &said)
			failed := err != nil && !errors.Is(err, transcript.ErrNothing)
			if failed || !f.quiet && added.Records > 0 {
				io.Copy(messages, &said)
			}
			if failed {
				fmt.Fprintf(messages, "%s: %v\n", k.File, err)
			}
			return err
		}, func(err error) { fmt.Fprintf(messages, "%v\n", err) })
	}
	kept, unknown, err := transcript.KeptIn(dirs)
	if err != nil {
		return err
	}
	exported, err := transcript.Exported(ctx, dirs)
	if err != nil {
		fmt.Fprintf(messages, "%v\n", err)
	}
	if kept = append(kept, exported...); len(kept) == 0 {
		f.tellUnknown(unknown, messages)
		return fmt.Errorf("%w: there is no transcript of a known program (%s) in %s", transcript.ErrNothing, transcript.Programs(), strings.Join(dirs, ", "))
	}
	failed := 0
	for i, k := range kept {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted; %d of %d transcripts are imported, import again for the rest", i, len(kept))
		}
		if !f.quiet {
			fmt.Fprintf(messages, "%d of %d: %s\n", i+1, len(kept), k.File)
		}
		var said bytes.Buffer
		_, err := f.one(ctx, k, out, &said)
		if !f.quiet || err != nil {
			io.Copy(messages, &said)
		}
		switch {
		case err == nil || errors.Is(err, transcript.ErrNothing):
		default:
			failed++
			fmt.Fprintf(messages, "%s: %v\n", k.File, err)
		}
	}
	f.tellUnknown(unknown, messages)
	if failed > 0 {
		return fmt.Errorf("%d of %d transcripts failed, see above; import again for these", failed, len(kept))
	}
	return nil
}

// tellUnknown names the files that should be transcripts and are of no known format, in one line.
func (f *importFlags) tellUnknown(files []string, messages io.Writer) {
	if len(files) == 0 {
		return
	}
	shown, more := files[:min(len(files), 3)], ""
	if n := len(files) - len(shown); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	fmt.Fprintf(messages, "%s of no known format, not imported: %s%s\n", cli.Plural(len(files), "file"), strings.Join(shown, ", "), more)
}

// one imports one transcript; it returns what was added.
func (f *importFlags) one(ctx context.Context, k transcript.Kept, out, messages io.Writer) (added transcript.Counts, err error) {
	file, done, err := k.Open(ctx)
	if err != nil {
		return added, err
	}
	defer done()
	one := importFlags{store: f.store, quiet: f.quiet, cwd: k.Cwd, waits: !f.follow} // who follows has others to bring meanwhile
	one.losses.strict = f.losses.strict
	var said bytes.Buffer
	err = one.settled(file, cmp.Or(f.agent, k.Program)+"/"+k.Session, out, &said)
	io.WriteString(messages, strings.ReplaceAll(said.String(), file, k.File)) // what the program exported has a name only for a moment
	return one.added, err
}

// alone imports a file for which the user named no session. It chooses the same session as
// [importFlags.all] and returns the errors of the import.
func (f *importFlags) alone(file string, out, messages io.Writer) error {
	k, err := transcript.Alone(file)
	if err != nil {
		return err
	}
	f.cwd, f.waits = k.Cwd, true
	return f.settled(file, k.Program+"/"+k.Session, out, messages)
}

// mostTries is how often an import begins anew because another made the same session.
const mostTries = 3

// settled imports a file. Where it waits for others it begins anew when one of them made the session in the same moment.
func (f *importFlags) settled(file, session string, out, messages io.Writer) (err error) {
	for range mostTries {
		once := *f
		err = once.run([]string{file}, session, strings.NewReader(""), out, messages)
		f.added = once.added
		if !f.waits || !errors.Is(err, ctxabi.ErrLocked) {
			break
		}
	}
	return err
}
