package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// numbersOf reads lines of an inode number and a path.
func numbersOf(t *testing.T, out string) map[string]uint64 {
	t.Helper()
	all := map[string]uint64{}
	for line := range strings.Lines(out) {
		number, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all[name] = n
	}
	return all
}

func TestInodeNumbersAreTheSameInJavaScriptAndElsewhere(t *testing.T) {
	harness.Need(t, "node")
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "s1")
	s.Append("messages.jsonl", harness.Message("user", "hello"))
	for i := range 200 {
		if err := os.WriteFile(filepath.Join(s.AgentHome(), fmt.Sprint("file", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Read("context/pack.md")
	m.Restart() // a number that was given to the kernel before is of the next daemon, too
	// Packs and what is derived are other files once there is more to be made of: numbers are compared of one moment.
	bash := numbersOf(t, s.Bash(`cd "$CTX" && find . -exec stat -c '%i %n' {} +`).OK())
	node := numbersOf(t, s.Node(`
const fs = require('fs'), path = require('path')
function walk(name) {
  const st = fs.lstatSync(name), exact = fs.lstatSync(name, {bigint: true})
  if (BigInt(st.ino) !== exact.ino) throw new Error(name + ' is ' + exact.ino + ', in JavaScript ' + st.ino)
  console.log(st.ino + ' ' + name)
  if (st.isDirectory()) for (const e of fs.readdirSync(name)) walk(name === '.' ? './' + e : name + '/' + e)
}
process.chdir(process.env.CTX)
walk('.')`).OK())
	if len(bash) < 250 || len(bash) != len(node) {
		t.Fatalf("%d files, in JavaScript %d", len(bash), len(node))
	}
	paths := map[uint64]string{}
	for name, number := range bash {
		if node[name] != number {
			t.Errorf("%s has %d, in JavaScript %d", name, number, node[name])
		}
		if number < 1 || number > 1<<53-1 {
			t.Errorf("%s has %d", name, number)
		}
		if other, is := paths[number]; is {
			t.Errorf("%s and %s have one number, %d", name, other, number)
		}
		paths[number] = name
	}
	listed := numbersOf(t, s.Bash(`cd "$CTX" && ls -iRA1 --color=never home/*/agent/coder | sed -n 's/^ *\([0-9][0-9]* file.*\)/\1/p'`).OK())
	for name, number := range listed {
		if at := "./" + strings.TrimPrefix(s.AgentHome(), m.Dir+"/") + "/" + name; bash[at] != number {
			t.Errorf("%s is listed with %d, stat gives %d", name, number, bash[at])
		}
	}
	if len(listed) != 200 {
		t.Errorf("%d files are listed", len(listed))
	}
}
