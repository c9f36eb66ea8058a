package postgres

import (
	"flag"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
)

// mutants are changes that break one guard of the schema or the client. TestPostgres or
// TestFailOverLosesVisibleEntries must fail with each.
var mutants = []suite.Mutant{
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
	suite.Mutants(t, list, func(suite.Mutant) []string {
		return []string{".", "-run", "TestPostgres|TestFailOverLosesVisibleEntries"}
	})
}
