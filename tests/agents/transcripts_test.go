package agents

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
)

// The transcripts that the programs write come in, come in once, and go out as they were.
func TestTranscriptsOfThePrograms(t *testing.T) {
	for _, p := range []program{claude, codex, gemini, opencode, pi} {
		t.Run(p.name, func(t *testing.T) {
			w := newWorld(t)
			p.set(w)
			w.write(filepath.Join(w.dir, "README.md"), "# App\n")
			w.mount()
			w.run(p.first(told + " [[play work]]")...)
			w.run(p.again("Once more.")...)
			var files []string
			if p.name == opencode.name {
				files = []string{w.exported()}
			} else { // gemini goes on in its file, and leaves another one with nothing said in it where a minute has begun since
				files = slices.DeleteFunc(w.kept(p), func(file string) bool { return !strings.Contains(w.read(file), told) })
			}
			if len(files) != 1 {
				t.Fatalf("it keeps %q", files)
			}
			session := p.name + "/s1"
			w.run("ctxfs", "import", files[0], session)
			again := w.try("ctxfs", "import", files[0], session)
			if again.code != 0 || !strings.Contains(again.err, "added nothing new") {
				t.Errorf("a second import: %+v", again)
			}
			records := w.sessions(p.name)["s1"]
			var log strings.Builder
			for _, r := range records {
				log.WriteString(r.line)
			}
			wants(t, log.String(), told, "hello", "# App", "The command failed with 3.", "Once more.", "Noted.")
			if diff := adaptertest.CanonicalEqual([]byte(w.read(files[0])), []byte(w.run("ctxfs", "export", "--format", p.name, session))); diff != "" {
				t.Errorf("the export differs: %s", diff)
			}
		})
	}
}

// exported returns a file that opencode exported its newest session to.
func (w *world) exported() string {
	w.t.Helper()
	id := ""
	for _, word := range strings.Fields(w.run("opencode", "session", "list")) {
		if strings.HasPrefix(word, "ses_") {
			id = word
			break
		}
	}
	file := filepath.Join(w.home, id+".json")
	w.write(file, w.run("opencode", "export", id))
	return file
}

// Whatever brings a transcript, it is one session, and no record comes twice.
func TestHooksAndImportsBringOneSession(t *testing.T) {
	for _, p := range []program{claude, codex, gemini, opencode} {
		t.Run(p.name, func(t *testing.T) {
			w := newWorld(t)
			p.set(w)
			w.mount()
			w.run("ctxfs", "install", p.name)
			w.run(p.first(told)...)
			session := w.recorded(p.name, told)
			w.run("ctxfs", "import", "--all")
			w.follow()
			w.run(p.again("Once more.")...)
			if other := w.recorded(p.name, "Once more."); other != session {
				t.Errorf("the conversation goes on in %s, not in %s", other, session)
			}
			w.run("ctxfs", "import", "--all")
			all := w.sessions(p.name)
			if len(all) != 1 {
				t.Errorf("sessions: %d", len(all))
			}
			count := map[string]int{}
			for _, r := range all[session] {
				for _, words := range []string{told, "Once more."} {
					if strings.Contains(r.line, words) {
						count[words]++
					}
				}
			}
			for words, n := range count {
				if n != 1 {
					t.Errorf("%q stands in %d records", words, n)
				}
			}
			if len(count) != 2 {
				t.Errorf("recorded: %v", count)
			}
		})
	}
}
