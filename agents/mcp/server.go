package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxfs/ctxfs/agents/brief"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// DefaultMaxAnswer is how many bytes of a file an answer holds where nothing
// else is said: about what clients show a model whole.
const DefaultMaxAnswer = 96 << 10

// maxRequest bounds one message of the client, in bytes: several of the largest records.
const maxRequest = 64 << 20

// Config is what a server is made of.
type Config struct {
	Version string // of the program

	// Session returns the session of a client, which goes by the name client (""
	// where it has none). The server calls it when the client introduces itself. If
	// hooks may still begin the client's session, it calls it again for each tool call,
	// until one has used a session.
	Session func(client string) (Chosen, error)

	// Why explains where a record or a block stands in the session's pack, as
	// ctxfs why prints it.
	Why func(ctx context.Context, dir, what string) (string, error)

	MaxAnswer int // bytes; 0: DefaultMaxAnswer
	Log       *slog.Logger
}

// server is one server and its client.
type server struct {
	Config
	sdk *sdk.Server

	mu     sync.Mutex
	chosen *session // guarded by mu; nil until a client needed it
	fixed  bool     // guarded by mu; the instructions named it, or a call has used it

	watcher watcher
}

// Serve speaks to one client, a JSON-RPC message a line, until that closes in, or ctx ends. A line that is none is answered with an error.
func Serve(ctx context.Context, c Config, in io.ReadCloser, out io.WriteCloser) error {
	s := newServer(c)
	defer s.watcher.close()
	ends := newFrames(in, out)
	err := s.sdk.Run(ctx, drained{&sdk.IOTransport{Reader: ends, Writer: ends, MaxLineLength: -1}}) // frames has bounded it
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func newServer(c Config) *server {
	if c.MaxAnswer <= 0 {
		c.MaxAnswer = DefaultMaxAnswer
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &server{Config: c}
	s.watcher.changed = s.resourceChanged
	s.sdk = sdk.NewServer(
		&sdk.Implementation{Name: "ctxfs", Title: "ctxfs: the agent's memory", Version: c.Version},
		&sdk.ServerOptions{
			Logger:             c.Log,
			Capabilities:       &sdk.ServerCapabilities{}, // no logging: errors are in the answers
			SubscribeHandler:   s.subscribe,
			UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil }, // the SDK forgets who asked
		})
	s.sdk.AddReceivingMiddleware(s.introduce)
	s.addTools()
	s.addResources()
	s.addPrompts()
	return s
}

// introduce answers a client that introduces itself with where its memory is.
func (s *server) introduce(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, req)
		if err != nil {
			return res, err
		}
		switch r := res.(type) {
		case *sdk.InitializeResult:
			if p, ok := req.GetParams().(*sdk.InitializeParams); ok {
				r.Instructions = s.instructions(p.ClientInfo)
			}
		case *sdk.DiscoverResult:
			if q, ok := req.(*sdk.ServerRequest[*sdk.DiscoverParams]); ok {
				r.Instructions = s.instructions(q.ClientInfo())
			}
		}
		return res, nil
	}
}

// Of the memory of a project the instructions hold so many characters, and wait so long for it.
const (
	maxProject  = 2_000
	projectTime = time.Second
)

// besideHooks are the instructions for a client with hooks. They are constant, because they come
// first in the prompt and a provider's cache ends at the first difference.
const besideHooks = "Hooks record this conversation if they told you about your memory: in that case do not append its messages, " +
	"and the tools pack, search, why, read and memory work in its session.\n"

// instructions returns what the model of a client is told when it begins.
func (s *server) instructions(client *sdk.Implementation) string {
	x, err := s.choose(client, false)
	if err != nil {
		return fmt.Sprintf("There is no memory: %v", err)
	}
	if x.Recorded || x.Told {
		return besideHooks
	}
	var told strings.Builder
	told.WriteString(Snippet(x.Dir) + "The tools append, pack, search, why, read and memory do the same for those who have no shell.\n")
	if x.root != "" && x.Cwd != "" {
		ctx, cancel := context.WithTimeout(context.Background(), projectTime)
		defer cancel()
		marks := ctxabi.MarksOf(filepath.Base(x.home), filepath.Base(x.Dir))
		w := brief.NewWriter(ctx, maxProject-len(marks.Quote(ctxabi.QuotedData, "")))
		project := brief.ProjectAt(filepath.Dir(filepath.Dir(x.home)), x.Cwd)
		parts := project.Read(w, "")
		if len(parts) > 0 {
			w.Add(fmt.Sprintf("\n# Earlier work in %s\n%s\n", x.Cwd, project.Sources()))
		}
		for _, p := range parts {
			w.Section(p.Title, p.Text, p.Path, maxProject/2)
		}
		if len(parts) > 0 { // a client makes a system prompt of instructions
			told.WriteString(marks.Quote(ctxabi.QuotedData, w.String()))
		}
	}
	return told.String()
}

func (s *server) addPrompts() {
	s.sdk.AddPrompt(&sdk.Prompt{
		Name: "memory", Title: "My memory",
		Description: "What an agent needs to know of its own memory: the paragraph for a system prompt.",
	}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		x, err := s.session(req.ClientInfo())
		if err != nil {
			return nil, err
		}
		return &sdk.GetPromptResult{
			Description: "The agent's memory, " + x.Dir,
			Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: Snippet(x.Dir)}}},
		}, nil
	})
}
