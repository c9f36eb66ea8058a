package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/hook"
	"github.com/ctxfs/ctxfs/internal/locate"
)

func hookCmd() *cobra.Command {
	o := hook.Options{Import: importForHook}
	var patience, mountPatience time.Duration
	c := &cobra.Command{
		Use:   "hook [flags] [EVENT] < input.json",
		Short: "Answer a hook of Claude Code or Codex: record the turn, bring memory back",
		Long: `Answer a hook of Claude Code or Codex. The JSON on standard input says which one:

  SessionStart    print what the agent needs to know about its memory, and what
                  is left of earlier work: of this session after a compaction,
                  else of the last session in the same directory. After a resume,
                  print what the transcript does not have yet, which may be nothing
  PreCompact      import the transcript, before the context is compacted
  PostCompact     import what the compaction added
  Stop            import what the turn added; this never holds up a turn
  SessionEnd      import the rest, and write "done" into state

The session is $CTXFS_SESSION, else the session of the agent claude-code or codex
that has the program's session id as its name (--agent or $CTXFS_AGENT: another
agent). SessionStart makes it. The other hooks make it if the transcript has
something to record. A hook never breaks its host: each failure is one line on
standard error, and the exit code is 0. If no ctxfs is mounted, nothing is done or
printed. A mount that does not answer delays the host by --mount-timeout at most.

EVENT is used if the input has no hook_event_name.

Exit code: 0.`,
		Example: `  ctxfs hook < input.json
  ctxfs hook SessionStart --agent reviewer --mount /ctx < input.json`,
		Args:               cobra.ArbitraryArgs, // wrong usage has exit code 2, with which a hook blocks
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Event = args[0]
			}
			var out strings.Builder
			daemon.Asker.Within = mountPatience
			done := make(chan error, 1)
			go func() { done <- hook.Answer(c.InOrStdin(), &out, o) }()
			ctx, cancel := context.WithTimeout(c.Context(), patience)
			defer cancel()
			var err error
			select {
			case err = <-done:
				if err == nil {
					fmt.Fprint(c.OutOrStdout(), out.String())
				}
			case <-ctx.Done(): // what was imported stays, the next hook goes on
				err = fmt.Errorf("not finished after %s", patience)
			}
			if err != nil && !errors.As(err, new(locate.NoMountError)) {
				fmt.Fprintln(c.ErrOrStderr(), "ctxfs hook:", strings.ReplaceAll(inWords(err), "\n", " "))
			}
			return nil
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		fmt.Fprintln(c.ErrOrStderr(), "ctxfs hook:", err)
		return silent{exitOK}
	})
	mountFlag(c, &o.Mount)
	c.Flags().StringVar(&o.Agent, "agent", "", "`AGENT` that owns the sessions (default $CTXFS_AGENT, or claude-code, or codex)")
	c.Flags().DurationVar(&mountPatience, "mount-timeout", time.Second, "`TIME` after which a mount that does not answer is left alone")
	c.Flags().DurationVar(&patience, "timeout", 25*time.Second, "`TIME` after which the host goes on without an answer")
	return c
}

// importForHook is ctxfs import of a transcript, without a word.
func importForHook(file, format, session string) error {
	im := importFlags{format: format, quiet: true}
	return im.run([]string{file}, session, strings.NewReader(""), io.Discard, io.Discard)
}
