package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/agents/mcp/memory"
	"github.com/ctxfs/ctxfs/ctxabi"
)

func (s *server) addTools() {
	no := false
	reads := func(title string) *sdk.ToolAnnotations {
		return &sdk.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}
	}
	s.sdk.AddTool(&sdk.Tool{
		Name: "append",
		Description: "Record messages or events in your session. They are kept for good and in order; the answer names their line numbers, as messages:12-14. " +
			"A refused record is not stored; the answer has the reason. Records before it in the same call are stored.",
		InputSchema: appendSchema,
		Annotations: &sdk.ToolAnnotations{Title: "Append to the history", DestructiveHint: &no, OpenWorldHint: &no},
	}, s.appendRecords)
	// No tool but append has structured output: hosts that pass it on leave the text of the answer out.
	sdk.AddTool(s.sdk, &sdk.Tool{
		Name: "pack",
		Description: "Read the prompt that ctxfs compiles from your session: rules, notes, the conversation within its token budget, open tasks. " +
			"What does not fit is shown shortened, with a path like context/line/12 that the tool read gives back whole.",
		Annotations: reads("Read the prompt"),
	}, s.pack)
	sdk.AddTool(s.sdk, &sdk.Tool{
		Name: "search",
		Description: "Find what was said or done before, word by word, the best passages first, each with the path of its record. " +
			"Rare words, identifiers and paths count most; \"double quotes\" mark text that must match exactly.",
		Annotations: reads("Search the history"),
	}, s.search)
	sdk.AddTool(s.sdk, &sdk.Tool{
		Name: "why",
		Description: "Show where a record is in your prompt and why (in full, shortened, folded, left out, and by which compaction), " +
			"or what a block got of the budget.",
		Annotations: reads("Explain the prompt"),
	}, s.why)
	sdk.AddTool(s.sdk, &sdk.Tool{
		Name: "read",
		Description: "Read a file of your session by the path that a prompt or a search cites: context/line/12 (a record as it was written), context/line/12.txt (what it says), " +
			"context/todo.md, context/errors.jsonl, messages.jsonl. A directory is listed. Long files come in pieces.",
		Annotations: reads("Read a file of the session"),
	}, s.read)
	sdk.AddTool(s.sdk, &sdk.Tool{
		Name: "save_summary",
		Description: "Save your own summary of the session up to now: goal, rules of the user, " +
			"decisions with reasons, state, exact values, what failed, open questions. " +
			"Prompts contain as much of it as fits. A later summary replaces it; carry over what still holds. " +
			"If the prompt ends with a summary request, save a summary with its upto before your next step.",
		Annotations: &sdk.ToolAnnotations{Title: "Save a summary", DestructiveHint: &no, OpenWorldHint: &no},
	}, s.saveSummary)
	yes := true
	sdk.AddTool(s.sdk, &sdk.Tool{
		Name: "memory",
		Description: "Keep notes that outlive this session, in files below /memories: view, create, str_replace, insert, delete, rename. " +
			"All your sessions share them, and prompts show those that fit the task. View /memories before you begin.",
		Annotations: &sdk.ToolAnnotations{Title: "Notes that last", DestructiveHint: &yes, OpenWorldHint: &no},
	}, s.memory)
}

type packInput struct {
	Format string `json:"format,omitempty" jsonschema:"md (the default: text), a request body (openai, anthropic, responses, gemini, genai), report (what is in it and what was left out), or json (the same for programs)"`
	At     string `json:"at,omitempty" jsonschema:"the pack of an earlier moment: a number of messages as 120, or a time as 2026-05-04T10:00:00Z"`
}

// packIDKey is where the _meta of an answer of pack has the name of the very bytes that were read.
const packIDKey = "ctxfs/pack_id"

// packFiles are the files of a pack by the name of their format.
var packFiles = map[string]string{
	"": ctxabi.PackFile, "md": ctxabi.PackFile, "report": ctxabi.ReportFile, "json": ctxabi.PackJSONFile,
	"openai": ctxabi.OpenAIFile, "anthropic": ctxabi.AnthropicFile, "responses": ctxabi.ResponsesFile, "gemini": ctxabi.GeminiFile, "genai": ctxabi.GenAIFile,
}

func (s *server) pack(ctx context.Context, req *sdk.CallToolRequest, in packInput) (*sdk.CallToolResult, any, error) {
	rel, ok := packFiles[in.Format]
	if !ok {
		return nil, nil, fmt.Errorf("there is no format %q; the formats are md, openai, anthropic, responses, gemini, genai, report and json", in.Format)
	}
	if in.At != "" {
		if strings.ContainsRune(in.At, '/') {
			return nil, nil, fmt.Errorf("at is a number of messages or a time, not %q", in.At)
		}
		rel = filepath.Join(ctxabi.AtDir, in.At, filepath.Base(rel))
	}
	x, err := s.session(req.ClientInfo())
	if err != nil {
		return nil, nil, err
	}
	var id string
	f, err := await(ctx, func() (file, error) {
		Ask(x.Dir) // the agent can answer with save_summary
		f, err := x.read(rel, 0, s.MaxAnswer)
		if err == nil {
			id = attribute(f.Path, "user.ctx.pack_id")
		}
		return f, err
	})
	if err != nil {
		return nil, nil, err
	}
	again := rel
	if f.next() < f.Size && rel == ctxabi.PackFile && id != "" {
		again = filepath.Join(ctxabi.ServedDir, id+".md") // pack.md may be another one by then
	}
	res := f.result(again)
	if id != "" {
		res.Meta = sdk.Meta{packIDKey: id}
	}
	return res, nil, nil
}

type searchInput struct {
	Query  string `json:"query" jsonschema:"words as they come to mind, an identifier, a path, or an exact phrase in double quotes"`
	N      int    `json:"n,omitempty" jsonschema:"most hits, 1 to 100; 10 where nothing is said"`
	Tokens int    `json:"tokens,omitempty" jsonschema:"most tokens of the answer, 64 to 32000; 2000 where nothing is said"`
	Role   string `json:"role,omitempty" jsonschema:"only records of this role: system, developer, user, assistant, tool or event"`
	Tool   string `json:"tool,omitempty" jsonschema:"only calls and results of this tool"`
	In     string `json:"in,omitempty" jsonschema:"only messages, or only events"`
	Range  string `json:"range,omitempty" jsonschema:"only these lines, as 100-200"`
	Scope  string `json:"scope,omitempty" jsonschema:"session (the default), agent (all sessions of this agent) or home (all sessions of this user)"`
}

// maxName is how long a name may be that every kernel looks up, in bytes.
const maxName = 255

// fileName is the name of the query's file: docs/search.md.
func (in searchInput) fileName() string {
	escape := strings.NewReplacer("%", "%25", "/", "%2F", "?", "%3F", "&", "%26").Replace
	name := strings.NewReplacer("%", "%25", "/", "%2F", "?", "%3F").Replace(strings.Join(strings.Fields(in.Query), " "))
	if strings.HasPrefix(name, ".") {
		name = "%2E" + name[1:]
	}
	var filters []string
	for _, f := range []struct {
		key   string
		value any
	}{{"n", in.N}, {"tokens", in.Tokens}, {"role", in.Role}, {"tool", in.Tool}, {"in", in.In}, {"range", in.Range}} {
		if f.value != 0 && f.value != "" {
			filters = append(filters, f.key+"="+escape(fmt.Sprint(f.value)))
		}
	}
	if len(filters) > 0 {
		name += "?" + strings.Join(filters, "&")
	}
	return name
}

func (s *server) search(ctx context.Context, req *sdk.CallToolRequest, in searchInput) (*sdk.CallToolResult, any, error) {
	if strings.TrimSpace(in.Query) == "" {
		return nil, nil, errors.New("the query is empty; pass a few words")
	}
	name := in.fileName()
	if len(name) > maxName {
		return nil, nil, fmt.Errorf("the query has %d bytes, at most %d are possible; leave out the common words", len(name), maxName)
	}
	x, err := s.session(req.ClientInfo())
	if err != nil {
		return nil, nil, err
	}
	dir := ctxabi.SearchDir
	switch in.Scope {
	case "", "session":
	case "agent":
		dir = "../../" + ctxabi.HomeSearchDir
	case "home":
		dir = "../../../../" + ctxabi.HomeSearchDir
	default:
		return nil, nil, fmt.Errorf("there is no scope %q; the scopes are session, agent and home", in.Scope)
	}
	if in.Scope == "agent" && x.home == "" || in.Scope == "home" && x.root == "" {
		return nil, nil, fmt.Errorf("the scope %s cannot be seen from here, as in a container; search without one", in.Scope)
	}
	f, err := await(ctx, func() (file, error) {
		return x.read(dir+"/"+name, 0, s.MaxAnswer)
	})
	if err != nil {
		return nil, nil, err
	}
	return f.result(dir + "/" + name), nil, nil
}

type whyInput struct {
	What string `json:"what" jsonschema:"messages:57, 57-60, events:12, e12, or a block as pinned/rules.md, knowledge, todo"`
}

func (s *server) why(ctx context.Context, req *sdk.CallToolRequest, in whyInput) (*sdk.CallToolResult, any, error) {
	x, err := s.session(req.ClientInfo())
	if err != nil {
		return nil, nil, err
	}
	answer, err := await(ctx, func() (string, error) { return s.Why(ctx, x.Dir, in.What) })
	if err != nil {
		return nil, nil, err
	}
	if short := cut(answer, s.MaxAnswer); short != answer {
		answer = short + "(cut; ask for fewer records)"
	}
	return text(answer), nil, nil
}

type readInput struct {
	Path   string `json:"path" jsonschema:"as a prompt or a search cites it: context/line/12, line/12.txt, messages:12, context/todo.md, home/1000/agent/coder/session/s1/context/line/3"`
	Offset int64  `json:"offset,omitempty" jsonschema:"the byte to begin at; -1 reads the end of the file"`
	Limit  int    `json:"limit,omitempty" jsonschema:"most bytes of the answer"`
}

func (s *server) read(ctx context.Context, req *sdk.CallToolRequest, in readInput) (*sdk.CallToolResult, any, error) {
	if in.Offset < -1 || in.Limit < 0 {
		return nil, nil, errors.New("offset is a byte of the file or -1, limit a number of bytes")
	}
	x, err := s.session(req.ClientInfo())
	if err != nil {
		return nil, nil, err
	}
	limit := s.MaxAnswer
	if in.Limit > 0 {
		limit = min(limit, max(in.Limit, 256))
	}
	f, err := await(ctx, func() (file, error) { return x.read(in.Path, in.Offset, limit) })
	if err != nil {
		return nil, nil, err
	}
	return f.result(in.Path), nil, nil
}

type summaryInput struct {
	Text string `json:"text" jsonschema:"the whole summary, as Markdown"`
	Upto *int   `json:"upto,omitempty" jsonschema:"number of the last message that it covers; default: as the summary before it or the request"`
}

// saveSummary delivers a version of the session's summary by a write to summary.md, whose checks
// it leaves to the mount.
func (s *server) saveSummary(
	ctx context.Context, req *sdk.CallToolRequest, in summaryInput,
) (*sdk.CallToolResult, any, error) {
	if strings.TrimSpace(in.Text) == "" {
		return nil, nil, errors.New("the summary is empty; pass its text")
	}
	x, err := s.session(req.ClientInfo())
	if err != nil {
		return nil, nil, err
	}

	d := ctxabi.Summary{Text: in.Text, Writer: ctxabi.WriterMCP}
	if in.Upto != nil {
		d.Upto, d.HasUpto = *in.Upto, true
	}
	answer, err := await(ctx, func() (string, error) {
		since := time.Now()
		if err := os.WriteFile(x.path(ctxabi.SummaryFile), ctxabi.FormatSummaryFile(d), 0o600); err != nil {
			return "", x.reason(ctxabi.SummaryFile, since, err)
		}
		used := attribute(x.path(ctxabi.SummaryFile), "user.ctx.version")
		upto := attribute(x.path(ctxabi.SummariesDir+"/"+used+".md"), "user.ctx.upto")
		if text, err := os.ReadFile(x.path(ctxabi.SummaryFile)); err != nil || string(text) != in.Text {
			return fmt.Sprintf("saved, but version %s, which covers the messages up to %s, stays in use", used, upto), err
		}
		return fmt.Sprintf("saved as version %s, which covers the messages up to %s", used, upto), nil
	})
	if err != nil {
		return nil, nil, err
	}
	return text(answer), nil, nil
}

// memoryInput is a command of the memory tool; see [memory.Command].
type memoryInput struct {
	Command    string  `json:"command" jsonschema:"view, create, str_replace, insert, delete or rename"`
	Path       string  `json:"path,omitempty" jsonschema:"/memories, or a file or directory below it; of all commands but rename"`
	ViewRange  []int   `json:"view_range,omitempty" jsonschema:"of view: first and last line, from 1; -1 is the end"`
	FileText   *string `json:"file_text,omitempty" jsonschema:"of create: the content of the new file"`
	OldStr     *string `json:"old_str,omitempty" jsonschema:"of str_replace: a text that stands exactly once in the file"`
	NewStr     *string `json:"new_str,omitempty" jsonschema:"of str_replace: what takes its place"`
	InsertLine *int    `json:"insert_line,omitempty" jsonschema:"of insert: the line behind which the text goes; 0 is the top"`
	InsertText *string `json:"insert_text,omitempty" jsonschema:"of insert: the text"`
	OldPath    string  `json:"old_path,omitempty" jsonschema:"of rename: what it is called"`
	NewPath    string  `json:"new_path,omitempty" jsonschema:"of rename: what it shall be called"`
}

func (s *server) memory(ctx context.Context, req *sdk.CallToolRequest, in memoryInput) (*sdk.CallToolResult, any, error) {
	x, err := s.choose(req.ClientInfo(), false) // its agent's memory can be looked at without a session
	if err != nil {
		return nil, nil, err
	}
	if x.home == "" {
		return nil, nil, errors.New("only this session can be seen from here, and the agent's memory is not in it; mount the agent's home")
	}
	answer, err := await(ctx, func() (string, error) {
		return memory.Of(x.home).Do(memory.Command(in))
	})
	if err != nil {
		return nil, nil, err
	}
	return text(answer), nil, nil
}

// attribute reads an extended attribute; "" where there is none.
func attribute(name, key string) string {
	b := make([]byte, 256)
	n, err := unix.Getxattr(name, key, b)
	if err != nil {
		return ""
	}
	return string(b[:n])
}
