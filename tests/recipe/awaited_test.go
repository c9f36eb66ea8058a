package recipetest

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

var awaitedCaches = []string{"{strategy: file_hash, invalidate_on: [input]}", "{strategy: never}"}

// newAwaited makes a session whose pack shows the file input, by a generator that readers wait for.
func newAwaited(t *testing.T, m *harness.Mount, cache string) *stage {
	s := newStage(t, m, owner())
	s.put("work/input", "0\n")
	s.recipe("wait_ms: 60000\nsources: [{type: computed_file, id: gen, generator: {command: [cat, input]}, cache: " + cache + "}, {type: journal}]\n")
	s.say("user", "Begin.")
	return s
}

// Programs that look at a file and then open it find the same one, whether or not they were the first to look for a
// pack that its generators hold up: cp leaves out what somebody put in another's place meanwhile.
func TestAnAwaitedPackIsNotReplacedBetweenAStatAndAnOpen(t *testing.T) {
	t.Parallel()
	harness.Need(t, "python3")
	m := harness.Start(t, harness.Options{})
	for _, cache := range awaitedCaches {
		s := newAwaited(t, m, cache)
		for _, copies := range []string{`cp "$1" copied`, `cp -a "$1" copied`, `cp -r "$1" copied`, `python3 - "$1" <<'END'
import os, sys
before = os.lstat(sys.argv[1])
fd = os.open(sys.argv[1], os.O_RDONLY)
assert os.path.samestat(before, os.fstat(fd)), (before, os.fstat(fd))
open("copied", "wb").write(os.read(fd, 1 << 20))
END`} {
			line := strings.Repeat("more\n", len(copies))
			s.put("work/input", line)
			if got := s.client("", `set -e; cd "$2"; rm -f copied; `+copies+`
cat copied`, s.Path("context/pack.md"), s.work).OK(); !strings.Contains(got, line) {
				t.Errorf("%s, %s: copied\n%s", cache, copies, got)
			}
		}
	}
}

// Who has an awaited pack open sees its size and its facts, whatever others have opened of the same name before and since.
func TestAnOpenAwaitedPackIsWhatItWas(t *testing.T) {
	t.Parallel()
	harness.Need(t, "python3")
	m := harness.Start(t, harness.Options{})
	for _, cache := range awaitedCaches {
		s := newAwaited(t, m, cache)
		s.client("", `cd "$2" && python3 - "$1" <<'END'
import hashlib, mmap, os, sys
held = []
for n in (1, 300, 20, 1500):
    with open("input", "w") as f:
        f.write("more\n" * n)
    held.append((n, os.open(sys.argv[1], os.O_RDONLY)))
    for n, fd in held:
        size = os.fstat(fd).st_size
        data = os.pread(fd, 1 << 20, 0)
        assert data.count(b"more") == n, (n, data.count(b"more"))
        assert size == len(data), (n, size, len(data))
        assert mmap.mmap(fd, 0, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE)[:] == data, n
        assert os.getxattr(fd, "user.ctx.sha256").decode() == hashlib.sha256(data).hexdigest(), n
END`, s.Path("context/pack.md"), s.work).OK()
	}
}

// A generator that reads what is made of its own pack waits for nobody, also while somebody who looks up the same name is
// the one who waits for it.
func TestAGeneratorIsNotHeldUpByWhoLooksUpTheSameName(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	for _, name := range []string{"context/pack.md", "context/at/1/pack.md", "context/swap/index.jsonl", "context/summary.md"} {
		s := newStage(t, m, owner())
		s.recipe("wait_ms: 60000\nsummarizer: {command: [cat]}\nsources:\n- {type: computed_file, id: gen, generator: {command: [sh, -c, 'head -c 1 \"$CTX_SESSION/" + name + "\" >/dev/null; echo made']}}\n- {type: journal}\n")
		s.say("user", "Begin.")
		s.say("user", "Go on.")
		s.Read(name)
		if b := s.pack(); b.Stale || b.block("gen") != "made\n" {
			t.Errorf("%s: stale %v, the pack is\n%s", name, b.Stale, b.md)
		}
	}
}
