package postgres

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
)

// mutants are changes that break one guard of the schema or the client. TestPostgres or
// TestFailOverLosesVisibleEntries must fail with each.
var mutants = []struct{ name, file, from, to string }{
	{"the primary key is the only fence", "schema/1.sql",
		"where journal = j and next = at and head = prev", "where journal = j"},
	{"the head is not compared", "schema/1.sql", "next = at and head = prev", "next = at"},
	{"the number is not compared", "schema/1.sql", "next = at and head = prev", "head = prev"},
	{"a removed session accepts entries", "schema/1.sql", " and removed is null and ctxfs.may", " and ctxfs.may"},
	{"every role may append", "schema/1.sql", " and ctxfs.may(s.owner)\n		returning", "\n		returning"},
	{"every role may read", "schema/1.sql", "s.journal = j and ctxfs.may(s.owner)\n$$", "s.journal = j\n$$"},
	{"every role may read objects", "schema/1.sql",
		" and o.piece = number and ctxfs.may(whose)", " and o.piece = number"},
	{"hosts may call helper functions", "schema/1.sql", "revoke execute", "grant execute"},
	{"no lock before the read", "schema/1.sql", " for update;\n	return query", ";\n	return query"},
	{"a fence passes on every server", "schema/1.sql", "if expected <> ctxfs.server_1()", "if false"},
	{"a commit need not wait for the standby", "schema/1.sql", "not in ('on', 'remote_apply')", "= 'none'"},
	{"a warning during a commit is ignored", "call.go", "changes && c.warned", "false && c.warned"},
	{"a lost answer means not stored", "errors.go", "if !changes || pgconn", "if true || pgconn"},
	{"cancel requests are sent", "connect.go", "if ctx.Value(dialing{}) == nil {", "if false {"},
}

var allFlag = flag.Bool("all-mutants", false, "run all mutants; by default, the first three")

func TestMutantsAreCaught(t *testing.T) {
	suite.Matrix(t, "it starts servers for each mutant")
	list := mutants
	if !*allFlag {
		list = list[:3]
	}
	for _, m := range list {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(source), m.from); n != 1 {
				t.Fatalf("%s contains the guard %d times", m.file, n)
			}
			path, _ := filepath.Abs(m.file)
			changed := filepath.Join(t.TempDir(), "changed")
			overlay, _ := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
			list := filepath.Join(t.TempDir(), "overlay.json")
			mutated := strings.Replace(string(source), m.from, m.to, 1)
			if err := os.WriteFile(changed, []byte(mutated), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(list, overlay, 0o644); err != nil {
				t.Fatal(err)
			}

			cmd := exec.Command("go", "test", "-vet=off", "-count=1", "-overlay", list, ".",
				"-run", "TestPostgres|TestFailOverLosesVisibleEntries")
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Errorf("the tests pass without this guard\n%s", out)
			} else if !strings.Contains(string(out), "--- FAIL: Test") {
				t.Errorf("the mutant did not run:\n%s", out)
			}
		})
	}
}
