package ctxabi

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strings"
)

// Names in home/<uid>/project: one directory for each workspace, with what all sessions of it share.
const (
	ProjectsDir       = "project"
	ProjectMemoryFile = "memory.md" // derived from the sessions of the workspace
	ProjectNotesFile  = "notes.md"  // what people write beside it
)

// NoProject is what [ProjectFile] holds of a session that shares nothing with others, whatever its cwd is.
const NoProject = "none"

// ProjectSlug returns the name of the directory of workspace dir below [ProjectsDir]: "home-me-app" of "/home/me/app".
// Two clean paths never have the same slug: "/" is "-", and each byte but letters, digits, "." and "_" is "+" and its two hex digits, as
// is a dot at the beginning. A slug above MaxName bytes ends in "+-" and a hash of dir instead. ProjectSlug returns ErrMalformed
// if dir is no absolute path.
func ProjectSlug(dir string) (string, error) {
	if !path.IsAbs(dir) || strings.ContainsRune(dir, 0) {
		return "", E("project", "", ErrMalformed, "%q is not an absolute path", dir)
	}
	dir = path.Clean(dir)
	if dir == "/" {
		return "-", nil
	}
	var b strings.Builder
	for i, c := range []byte(dir[1:]) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		case c == '/':
			b.WriteByte('-')
		default:
			b.WriteByte('+')
			b.WriteString(hex.EncodeToString([]byte{c}))
		}
	}
	if b.Len() <= MaxName {
		return b.String(), nil
	}
	sum := sha256.Sum256([]byte(dir))
	tail := "+-" + hex.EncodeToString(sum[:16])
	return b.String()[:MaxName-len(tail)] + tail, nil
}

// ParseProjectSlug returns the workspace that slug was made of. dir is "" where slug ends in a hash, which does not tell. ok is false
// for what [ProjectSlug] never returns.
func ParseProjectSlug(slug string) (dir string, ok bool) {
	if len(slug) == MaxName && hashedSlug.MatchString(slug) {
		return "", true
	}
	if slug == "-" {
		return "/", true
	}
	var b strings.Builder
	b.WriteByte('/')
	for i := 0; i < len(slug); i++ {
		switch slug[i] {
		case '-':
			b.WriteByte('/')
		case '+':
			c, err := hex.DecodeString(slug[i+1 : min(i+3, len(slug))])
			if err != nil || len(c) != 1 {
				return "", false
			}
			b.Write(c)
			i += 2
		default:
			b.WriteByte(slug[i])
		}
	}
	again, err := ProjectSlug(b.String())
	return b.String(), err == nil && again == slug
}

// hashedSlug is the form of a slug that has a hash at its end.
var hashedSlug = regexp.MustCompile(`^[a-zA-Z0-9_+][a-zA-Z0-9._+-]*\+-[0-9a-f]{32}$`)

// ToldBegins and ToldEnds are the lines around what a hook tells a conversation of its memory. A transcript may have it
// as words of the user: it is a copy of what sessions keep, and nothing that anybody said.
const (
	ToldBegins = "[ctxfs: what was kept for you]"
	ToldEnds   = "[ctxfs: end]"
)

// Told returns text as a hook tells it: between the two marks, a line each. A mark in text itself, which may quote whatever a
// tool printed, loses its first bracket: what follows it would count as the user's words.
func Told(text string) string {
	text = toldQuoted.Replace(strings.Trim(text, "\n"))
	return ToldBegins + "\n" + text + "\n" + ToldEnds + "\n"
}

// toldQuoted makes other texts of the marks, of the same length.
var toldQuoted = strings.NewReplacer(ToldBegins, "("+ToldBegins[1:], ToldEnds, "("+ToldEnds[1:])
