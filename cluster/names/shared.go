package names

import (
	"encoding/base32"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Limits of what is shared.
const (
	MaxFile   = 256 << 10 // bytes of a file
	MaxPath   = 1024      // bytes of a path
	MaxXattrs = 16 << 10  // bytes of all names and values of a file's attributes
	maxName   = 255       // bytes of one part of a path, as disks have it
)

// treeNames are the directories of an agent's home in which all is shared.
var treeNames = []string{ctxabi.SkillsDir, ctxabi.MemoryDir, ctxabi.KnowledgeDir, ctxabi.PlaybooksDir}

// fileNames are the files of an agent's home that are shared, beside recipes.
var fileNames = []string{ctxabi.AgentRecipeFile, ctxabi.SystemPromptFile, ctxabi.ToolsFile}

// Shared reports whether a path of an owner is in his journal: "agent/coder/memory/x.md". It depends on the
// path alone; whether a file is small enough is another question.
func Shared(owner engine.Subject, name string) bool {
	if !validPath(name) {
		return false
	}
	parts := strings.Split(conflictSuffix().ReplaceAllString(name, ""), "/")
	last := parts[len(parts)-1]
	home := owner.Owner[0] == 'u'
	switch {
	case home && name == ctxabi.TrustFile:
		return true
	case home && parts[0] == ctxabi.ProjectsDir:
		return len(parts) >= 3 && parts[2] != ctxabi.ProjectMemoryFile
	case parts[0] != ctxabi.AgentDir || len(parts) < 3 || ctxabi.ValidName(parts[1]) != nil:
		return false
	case parts[2] == ctxabi.SessionDir || parts[2] == ctxabi.HomeSearchDir:
		return false
	case slices.Contains(treeNames, parts[2]):
		return true
	case len(parts) == 3 && slices.Contains(fileNames, last):
		return true
	}
	return strings.HasSuffix(last, ".yaml") || strings.HasSuffix(last, ".yml")
}

// validPath reports whether name is a clean relative path of UTF-8 whose parts a mount can show.
func validPath(name string) bool {
	if name == "" || len(name) > MaxPath || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || len(part) > maxName || strings.HasPrefix(part, ctxabi.InternalDir) {
			return false
		}
	}
	return true
}

var conflictSuffix = lazy.Regexp(`\.ctxfs-conflict-[A-Za-z0-9-]{1,64}-[1-9][0-9]{0,8}$`)

// ConflictName returns the n-th name under which a host keeps its own content of a file that another changed, too.
func ConflictName(name, host string, n int) string {
	dir, base := path.Split(conflictSuffix().ReplaceAllString(name, ""))
	suffix := ".ctxfs-conflict-" + host + "-" + strconv.Itoa(n)
	for len(base)+len(suffix) > maxName || len(base) > 0 && !utf8.ValidString(base) {
		base = base[:len(base)-1]
	}
	return dir + base + suffix
}

// HomePath returns the path of a file in an agent's home: "agent/coder/memory/x.md".
func HomePath(agent string, rel ...string) string {
	return path.Join(ctxabi.AgentDir, agent, path.Join(rel...))
}

// ContentKey returns the name of the object that has the content with a SHA-256 value in hexadecimal.
func ContentKey(owner engine.Subject, hash string) engine.Key {
	return engine.Key{Owner: owner.Owner, Name: "b/" + hash}
}

var spaceNames = base32.HexEncoding.WithPadding(base32.NoPadding)

// SubjectOf returns the journal of the owner of ref.
func SubjectOf(ref ctxabi.Ref) engine.Subject {
	if ref.Space != "" {
		return engine.Subject{Owner: "s" + strings.ToLower(spaceNames.EncodeToString([]byte(ref.Space)))}
	}
	return engine.Subject{Owner: fmt.Sprint("u", ref.UID)}
}

// OwnerOf returns the owner of a journal. It returns engine.ErrInvalid if the subject is of no owner.
func OwnerOf(s engine.Subject) (ref ctxabi.Ref, err error) {
	if err := engine.CheckOwner(s.Owner); err != nil {
		return ref, err
	}
	if uid, ok := ctxabi.ParseUID(s.Owner[1:]); ok && s.Owner[0] == 'u' {
		return ctxabi.Ref{UID: uid}, nil
	}
	name, err := spaceNames.DecodeString(strings.ToUpper(s.Owner[1:]))
	ref.Space = string(name)
	if err != nil || s.Owner[0] != 's' || ctxabi.ValidName(ref.Space) != nil || SubjectOf(ref).Owner != s.Owner {
		return ctxabi.Ref{}, fmt.Errorf("%w: owner %q", engine.ErrInvalid, s.Owner)
	}
	return ref, nil
}
