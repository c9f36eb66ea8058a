package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// uriPrefix begins the address of a file of the session, whatever its session is.
const uriPrefix = "ctxfs:///"

// resource is a file that a client can show without being asked by a model.
type resource struct {
	rel, name, title, mime string
	tail                   bool // its end is what counts
}

var resources = []resource{
	{rel: ctxabi.PackFile, name: "pack", title: "The prompt", mime: "text/markdown"},
	{rel: ctxabi.ReportFile, name: "report", title: "What is in the prompt, and what is not", mime: "text/markdown"},
	{rel: ctxabi.MessagesFile, name: "messages", title: "The newest messages", mime: "application/jsonl", tail: true},
	{rel: ctxabi.EventsFile, name: "events", title: "The newest events", mime: "application/jsonl", tail: true},
	{rel: ctxabi.LatestFile, name: "latest", title: "The last answer", mime: "text/markdown"},
	{rel: ctxabi.SummaryFile, name: "summary", title: "The history in a few lines", mime: "text/markdown"},
	{rel: ctxabi.AskFile, name: "summary_request", title: "Whether a summary is requested now",
		mime: "application/json"},
	{rel: ctxabi.FactsFile, name: "facts", title: "What was stated", mime: "application/jsonl"},
	{rel: ctxabi.DecisionsFile, name: "decisions", title: "What was decided", mime: "application/jsonl"},
	{rel: ctxabi.TodoFile, name: "todo", title: "What is open", mime: "text/markdown"},
	{rel: ctxabi.ErrorsFile, name: "errors", title: "The last refusals, with reasons", mime: "application/jsonl", tail: true},
}

func (s *server) addResources() {
	for _, r := range resources {
		s.sdk.AddResource(&sdk.Resource{URI: uriPrefix + r.rel, Name: r.name, Title: r.title, MIMEType: r.mime}, s.resource)
	}
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: uriPrefix + ctxabi.LineDir + "/{n}", Name: "record", Title: "A record by its number", MIMEType: "text/plain",
		Description: "12 is message 12 as it was written, 12.txt what it says; e12 and e12.txt are events.",
	}, s.resource)
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: uriPrefix + "{+path}", Name: "file", Title: "A file of the session",
		Description: "Any path below the session's directory.",
	}, s.resource)
}

func (s *server) resource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	x, err := s.session(req.ClientInfo())
	if err != nil {
		return nil, err
	}
	offset, mime := int64(0), ""
	for _, r := range resources {
		if uri == uriPrefix+r.rel {
			mime = r.mime
			if r.tail {
				offset = -1
			}
		}
	}
	f, err := await(ctx, func() (file, error) { return x.read(strings.TrimPrefix(uri, uriPrefix), offset, s.MaxAnswer) })
	if err != nil {
		return nil, err
	}
	c := &sdk.ResourceContents{URI: uri, MIMEType: mime, Text: f.Text}
	if f.image != "" {
		c.MIMEType, c.Blob = f.image, f.data
	}
	if f.next() < f.Size {
		c.Text += "(cut here; the rest: " + f.Path + ")\n"
	}
	if c.Text == "" && c.Blob == nil {
		c.Blob = []byte{} // of neither clients say that the answer is malformed
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}, nil
}

// subscribe begins to watch the session for a client that wants to know of changes.
func (s *server) subscribe(_ context.Context, req *sdk.SubscribeRequest) error {
	x, err := s.session(req.ClientInfo())
	if err != nil {
		return err
	}
	return s.watcher.watch(x)
}

// resourceChanged notifies those who subscribed. A record that comes changes the pack and what is derived, too.
func (s *server) resourceChanged(rel string) {
	changed := []string{rel}
	if rel == ctxabi.MessagesFile || rel == ctxabi.EventsFile {
		for _, r := range resources {
			if r.rel != rel && !r.tail {
				changed = append(changed, r.rel)
			}
		}
	} else if strings.HasPrefix(rel, ctxabi.ContextDir+"/") {
		changed = append(changed, ctxabi.PackFile, ctxabi.ReportFile)
	}
	for _, rel := range changed {
		s.sdk.ResourceUpdated(context.Background(), &sdk.ResourceUpdatedNotificationParams{URI: uriPrefix + rel})
	}
}
