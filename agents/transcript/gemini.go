package transcript

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/formats"
	"github.com/ctxfs/ctxfs/internal/inputs"
)

// What Gemini CLI keeps in ~/.gemini/tmp/<project>/:
//
//	.project_root                         where the project is
//	chats/session-<time>-<id>.jsonl       a session; one that is taken up in another minute may have a second file, with its head alone
//	chats/<session id>/<agent>.jsonl      the conversations of its sub-agents
const geminiChats = "chats"

// geminiProject returns where the program worked of which a chat is, "" if that is not known.
func geminiProject(file string) string {
	dir := filepath.Dir(filepath.Dir(file))
	root, err := inputs.ReadFile(filepath.Join(dir, ".project_root"))
	if err != nil {
		return ""
	}
	if at := strings.TrimSpace(string(root)); filepath.IsAbs(at) {
		return at
	}
	return ""
}

// geminiAgents returns the directory with the sub-agent transcripts of a chat; "" if the chat
// cannot have any.
func geminiAgents(file string) string {
	if filepath.Base(filepath.Dir(file)) != geminiChats || !strings.HasPrefix(filepath.Base(file), "session-") {
		return ""
	}
	head, err := headOf(file)
	id := gjson.GetBytes(head, "sessionId").Str
	if err != nil || id == "" || id != filepath.Base(id) {
		return ""
	}
	return filepath.Join(filepath.Dir(file), id)
}

// geminiChat returns the newest chat to which a directory of sub-agents belongs, "" for another directory.
func geminiChat(dir string) (chat string) {
	if filepath.Base(filepath.Dir(dir)) != geminiChats {
		return ""
	}
	id := filepath.Base(dir)
	names, _ := filepath.Glob(filepath.Join(quoteGlob(filepath.Dir(dir)), "session-*-"+quoteGlob(id[:min(len(id), 8)])+".jsonl"))
	if len(names) == 0 {
		return ""
	}
	return names[len(names)-1]
}

// ofGeminiSubagent reports whether a directory has the conversations of sub-agents of one chat.
func ofGeminiSubagent(dir string) bool {
	return filepath.Base(filepath.Dir(dir)) == geminiChats && filepath.Base(dir) != geminiChats
}

func quoteGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// headOf returns the beginning of a regular file, long enough to detect its format. It returns an
// error for a pipe, because a pipe can be read only once.
func headOf(file string) ([]byte, error) {
	f, err := inputs.OpenRegular(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, HeadSize))
}

// isOf reports whether a file that begins with head has the given format.
func isOf(format, file string, head []byte) bool {
	f, ok := formats.Lookup(format)
	return ok && f.Sniff(file, adapter.Decode(head)) >= 90
}
