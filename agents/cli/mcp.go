package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/agents/install"
	"github.com/ctxfs/ctxfs/agents/mcp"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/process"
)

func mcpCmd() *cobra.Command {
	var mount, agent string
	var hooks bool
	var maxAnswer int
	c := &cobra.Command{
		Use:   "mcp [flags] [SESSION]",
		Short: "Serve a session to an MCP client on standard input and output",
		Long: `Speak the Model Context Protocol on standard input and output, for programs that
start their tools this way. The tools are append, pack, search, why, read and
memory. The pack, the newest messages and the notes are resources; a client can
subscribe to them. The prompt "memory" and the server's instructions are what
'ctxfs snippet' prints.

The server is a client of a mount and needs nothing else, also in a container. It
ends when its standard input ends. Standard output carries only the protocol.

If SESSION is not there, the server makes it. Without SESSION it uses
$CTXFS_SESSION. Without that it is the session in which hooks of the client record
its conversation: the active one, in the server's directory, of the process that
started the server. Without such a session each client gets one of its own in that
directory, made when it first uses it. The agent has the name of the program
(claude-code, codex, gemini, opencode), or the client's own name, or --agent.

The session is chosen when the client connects, and stays the same. If the client
has hooks that have not begun its session by then, the first call of a tool chooses.
--hooks states that it has them; else the server looks into the program's settings.
The instructions name the session and the project's memory only without hooks.

` + locate.SessionHelp + `

` + cli.ExitHelp,
		Example: `  ctxfs mcp coder/s1
  ctxfs mcp --mount /ctx                          # a new session for each client
  claude mcp add memory -- ctxfs mcp coder/s1     # as a server of Claude Code`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			session, err := mcpSession(append(args, os.Getenv(locate.SessionEnv))[0], mount, agent, hooks)
			if err != nil {
				return err
			}
			// Whatever else would print something prints it where it does no harm.
			out := os.Stdout
			os.Stdout = os.Stderr
			ctx, stop := signal.NotifyContext(c.Context(), unix.SIGTERM, unix.SIGINT)
			defer stop()
			return mcp.Serve(ctx, mcp.Config{
				Version: ctxabi.Version, Session: session, Why: whyInWords, MaxAnswer: maxAnswer,
				Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
			}, os.Stdin, out)
		},
	}
	cli.MountFlag(c, &mount)
	c.Flags().StringVar(&agent, "agent", "", "`AGENT` of the sessions that are made for clients (default: the client's own name)")
	c.Flags().BoolVar(&hooks, "hooks", false, "the client has hooks of ctxfs, which tell the agent of its memory")
	c.Flags().IntVar(&maxAnswer, "max-answer", mcp.DefaultMaxAnswer, "most `BYTES` of a file in one answer")
	return c
}

// mcpSession returns the session that is named, or for each client the one that its hooks record, else one of its own.
func mcpSession(arg, mount, agent string, hooks bool) (func(client string) (mcp.Chosen, error), error) {
	if arg != "" {
		dir, err := locate.SessionDir(arg, mount, true)
		return func(string) (mcp.Chosen, error) { return mcp.Chosen{Dir: dir}, nil }, err
	}
	root, err := locate.Mount(mount)
	if err != nil {
		return nil, err
	}
	cwd, err := unix.Getwd() // os.Getwd would touch it
	if err != nil || !filepath.IsAbs(cwd) || cwd == "/" {
		cwd = "" // where desktops start servers nobody works
	}
	own := newSessionName("mcp")
	return func(client string) (mcp.Chosen, error) {
		program := install.ProgramOf(client)
		home, err := locate.AgentDir(root, cmp.Or(agent, program, mcp.AgentName(client), "mcp"))
		if err != nil {
			return mcp.Chosen{}, err
		}
		c := mcp.Chosen{Dir: filepath.Join(home, ctxabi.SessionDir, own), Cwd: cwd, Told: hooks || install.HooksTell(program, cwd)}
		switch found := process.Find(home, cwd); {
		case len(found) == 1:
			c.Dir, c.Cwd, c.Recorded = found[0], "", true
		case len(found) > 1:
			c.Told, c.Unclear = true, mcp.Unclear(found)
		}
		return c, nil
	}, nil
}

// newSessionName is a name that no other session has, and that sorts by time.
func newSessionName(prefix string) string {
	return fmt.Sprintf("%s-%s-%s", prefix, time.Now().UTC().Format("20060102-150405"), strings.ToLower(rand.Text()[:6]))
}

// whyInWords is ctxfs why as a function.
func whyInWords(ctx context.Context, dir, what string) (string, error) {
	var out, errOut bytes.Buffer
	root := cli.NewRoot()
	root.SetArgs([]string{"why", "--", dir, what})
	root.SetOut(&out)
	root.SetErr(&errOut)
	if err := root.ExecuteContext(ctx); err != nil {
		return "", errors.New(cli.Message(err))
	}
	return out.String(), nil
}
