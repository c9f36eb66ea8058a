package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/agents/hook"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
)

func hookCmd() *cobra.Command {
	o := hook.Options{Import: importForHook, Start: startImport}
	var mountPatience time.Duration
	c := &cobra.Command{
		Use:   "hook [flags] [EVENT] < input.json",
		Short: "Answer a hook of an agent program: record the turn, bring memory back",
		Long: `Answer a hook of Claude Code, Codex, Gemini CLI, or of the plugin for opencode. The
JSON on standard input says which one:

  SessionStart    print what the agent needs to know about its memory, and what
                  is left of earlier work: of this session after a compaction
                  (what the program's own summary lacks, if the transcript
                  has it), then of its project, which is all sessions in the
                  same directory. After a resume, print what the transcript does not
                  have yet, which may be nothing
  PreCompact      import the transcript, before the context is compacted
  PostCompact     import what the compaction added
  Stop            import what the turn added; this never holds up a turn
  SessionEnd      import the rest, and write "done" into state
  PreCompress, AfterAgent
                  as PreCompact and Stop, of Gemini CLI

The session is $CTXFS_SESSION, else the session of the agent claude-code, codex,
gemini or opencode that has the program's session id as its name (--agent or
$CTXFS_AGENT: another agent). SessionStart makes it. The other hooks make it if the
transcript has something to record. A hook never breaks its host: each failure is
one line on standard error, and the exit code is 0. If no ctxfs is mounted, or if
$CTXFS_HOOK is "off", nothing is done or printed.

A hook answers within --timeout. An import that takes longer goes on in a process of
its own; the next SessionStart says if it is not done, and the next hook what went
wrong. A mount that does not answer delays the host by --mount-timeout at most.

EVENT is used if the input has no hook_event_name, --program where it does not show
whose hook it is.

Exit code: 0.`,
		Example: `  ctxfs hook < input.json
  ctxfs hook --program gemini < input.json
  ctxfs hook SessionStart --agent reviewer --mount /ctx < input.json`,
		Args:               cobra.ArbitraryArgs, // wrong usage has exit code 2, with which a hook blocks
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Event = args[0]
			}
			warn := func(line string) {
				fmt.Fprintln(c.ErrOrStderr(), "ctxfs hook:", strings.ReplaceAll(line, "\n", " "))
			}
			o.Warn = warn
			var out strings.Builder
			daemon.Asker.Within = mountPatience
			done := make(chan error, 1)
			go func() { done <- hook.Answer(c.InOrStdin(), &out, o) }()
			ctx, cancel := context.WithTimeout(c.Context(), o.Time+mountPatience)
			defer cancel()
			var err error
			select {
			case err = <-done:
				if err == nil {
					fmt.Fprint(c.OutOrStdout(), out.String())
				}
			case <-ctx.Done(): // what was imported stays, the next hook goes on
				err = fmt.Errorf("not finished after %s", o.Time+mountPatience)
			}
			if err != nil && !errors.As(err, new(locate.NoMountError)) {
				warn(cli.Message(err))
			}
			return nil
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		fmt.Fprintln(c.ErrOrStderr(), "ctxfs hook:", err)
		return cli.Silent{Code: cli.ExitOK}
	})
	cli.MountFlag(c, &o.Mount)
	c.Flags().StringVar(&o.Agent, "agent", "", "`AGENT` that owns the sessions (default $CTXFS_AGENT, or the program)")
	c.Flags().StringVar(&o.Program, "program", "", "`PROGRAM` whose hook it is: claude-code, codex, gemini or opencode (default: as the input shows)")
	c.Flags().DurationVar(&mountPatience, "mount-timeout", time.Second, "`TIME` after which a mount that does not answer is left alone")
	c.Flags().DurationVar(&o.Time, "timeout", time.Second, "`TIME` after which the host goes on, and an import by itself")
	return c
}

// importForHook is ctxfs import of a transcript, without a word.
func importForHook(file, format, session string) error {
	im := importFlags{format: format, quiet: true, waits: true}
	return im.settled(file, session, io.Discard, io.Discard)
}

const (
	importVerb = "hook-import" // started by a hook, nobody types it
	runFD      = 3             // the lock that it holds while it works
)

// startImport starts an import that its hook does not end with: it is of a session of its own, has nothing open that the host waits
// for, and is no child of the hook, so that no host that ends its processes finds it.
func startImport(dir, key string, run *os.File) error {
	cmd := importProcess(run, dir, key)
	cmd.Env = append(os.Environ(), parentEnv+"=1")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the import cannot be started: %w", err)
	}
	return nil
}

// parentEnv marks the process that starts the import and ends.
const parentEnv = "CTXFS_HOOK_PARENT"

func importProcess(run *os.File, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", append([]string{importVerb}, args...)...)
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{run}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// hookImportCmd is what a hook starts, twice: the first process starts the second and ends.
func hookImportCmd() *cobra.Command {
	return &cobra.Command{
		Use:    importVerb + " DIR KEY",
		Short:  "Go on with an import that a hook began (started by ctxfs itself)",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			run := os.NewFile(runFD, "run")
			if os.Getenv(parentEnv) != "" {
				os.Unsetenv(parentEnv)
				return importProcess(run, args...).Start()
			}
			syscall.CloseOnExec(runFD)
			return hook.Work(args[0], args[1], run, importForHook)
		},
	}
}
