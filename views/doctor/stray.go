package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/fs/mountpoint"
	"github.com/ctxfs/ctxfs/internal/lazy"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/session"
)

// mostStrays is the maximum number of sessions per folder that checkStrays describes individually.
const mostStrays = 5

// checkStrays returns findings about stray records: records that programs wrote to a mountpoint
// while nothing was mounted there. It looks at point, at the last mountpoint of the store, and at
// the folder of the store to which a daemon moves stray files when it starts.
func checkStrays(store, point string) (found []Finding) {
	for _, dir := range []string{point, mountpoint.Protected(store)} {
		if _, _, mounted := mounts.At(dir); dir == "" || mounted || dir == point && len(found) > 0 {
			continue
		}
		sessions, records := 0, 0
		for _, s := range mountpoint.Strays(dir) {
			sessions, records = sessions+1, records+s.Records
		}
		if sessions > 0 {
			found = append(found, Finding{
				Check: "strays", State: Note,
				Text: fmt.Sprintf("%s contains %s of %s, written while nothing was mounted there",
					dir, plural(records, "record"), plural(sessions, "session")),
				Remedy: fmt.Sprintf("ctxfs mount --store %s %s   moves them to %s; then run ctxfs doctor again",
					word(store), word(dir), word(filepath.Join(store, session.StrayDir))),
			})
		}
	}
	dirs, _ := filepath.Glob(filepath.Join(store, session.StrayDir, "*"))
	omitted := 0
	for _, dir := range dirs {
		for n, s := range mountpoint.Strays(dir) {
			if n >= mostStrays {
				omitted++
				continue
			}
			found = append(found, Finding{
				Check: "strays", State: Note,
				Text: fmt.Sprintf("%s contains %s, written at the mountpoint while nothing was mounted there",
					filepath.Dir(s.Files[0]), plural(s.Records, "record")),
				Remedy: importStray(store, filepath.Base(dir), s),
			})
		}
	}
	if omitted > 0 {
		found = append(found, Finding{
			Check: "strays", State: Note,
			Text: fmt.Sprintf("%s of that kind are below %s",
				plural(omitted, "more session"), filepath.Join(store, session.StrayDir)),
			Remedy: "import those above first, then run ctxfs doctor again",
		})
	}
	return found
}

// importStray returns a shell command that imports s and removes its files. The records become a
// separate session, because the original session may already contain later records. time is the
// time of discovery and becomes part of the session name.
func importStray(store, time string, s mountpoint.Stray) string {
	ref, err := ctxabi.ParseRef(s.Session)
	if err != nil { // a name that no session can have
		ref = ctxabi.Ref{UID: uint32(os.Geteuid()), Agent: "stray", Session: "s"}
	}
	name := ref.Session
	if s.Child != "" {
		name += "-" + strings.ReplaceAll(s.Child, "/", "-")
	}
	ref.Session = name[:min(len(name), ctxabi.MaxName-len(time)-1)] + "-" + time
	files := make([]string, len(s.Files))
	for i, f := range s.Files {
		files[i] = word(f)
	}
	all := strings.Join(files, " ")
	return fmt.Sprintf("ctxfs import --store %s --format native %s %s && rm %s", word(store), all, ref.Path(), all)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

var plainWord = lazy.Regexp(`^[\w@%+=:,./-]+$`)

// word quotes s for a shell if necessary.
func word(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
