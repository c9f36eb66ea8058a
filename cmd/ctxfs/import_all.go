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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if f.follow {
		return transcript.Follow(ctx, dirs, func(k transcript.Kept) error {
			var said bytes.Buffer
			err := f.one(k, io.Discard, &said)
			if err != nil && !errors.Is(err, transcript.ErrNothing) || !f.quiet && !bytes.Contains(said.Bytes(), []byte("added nothing new")) {
				io.Copy(messages, &said)
			}
			if err != nil && !errors.Is(err, transcript.ErrNothing) {
				fmt.Fprintf(messages, "%s: %v\n", k.File, err)
			}
			return err
		})
	}
	kept, err := transcript.KeptIn(dirs)
	if err != nil {
		return err
	}
	if len(kept) == 0 {
		return fmt.Errorf("%w: there is no transcript of Claude Code or Codex in %s", transcript.ErrNothing, strings.Join(dirs, ", "))
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
		err := f.one(k, out, &said)
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

// one imports one transcript.
func (f *importFlags) one(k transcript.Kept, out, messages io.Writer) error {
	one := importFlags{store: f.store, quiet: f.quiet, cwd: k.Cwd}
	one.losses.strict = f.losses.strict
	return one.run([]string{k.File}, cmp.Or(f.agent, k.Program)+"/"+k.Session, strings.NewReader(""), out, messages)
}
