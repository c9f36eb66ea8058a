package main

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

	"github.com/ctxfs/ctxfs/internal/transcript"
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
	kept, err := transcript.KeptIn(dirs)
	if err != nil {
		return err
	}
	if len(kept) == 0 {
		return fmt.Errorf("%w: there is no transcript of Claude Code or Codex in %s", transcript.ErrNothing, strings.Join(dirs, ", "))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed := 0
	for i, k := range kept {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted; %d of %d transcripts are imported, import again for the rest", i, len(kept))
		}
		one := importFlags{store: f.store, quiet: f.quiet, cwd: k.Cwd}
		one.losses.strict = f.losses.strict
		if !f.quiet {
			fmt.Fprintf(messages, "%d of %d: %s\n", i+1, len(kept), k.File)
		}
		var said bytes.Buffer
		err := one.run([]string{k.File}, cmp.Or(f.agent, k.Program)+"/"+k.Session, strings.NewReader(""), out, &said)
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
	if failed > 0 {
		return fmt.Errorf("%d of %d transcripts failed, see above; import again for these", failed, len(kept))
	}
	return nil
}
