// Package suite controls the test packages of the project: the length of a run and its random
// choices. Only test files import it, and it imports no other package of the project.
//
// A package with tests that use it, or that use pgregory.net/rapid, begins with
//
//	func TestMain(m *testing.M) { suite.Main(m) }
//
// (packages below tests/ call harness.Main, which calls this one).
//
// # Decisions
//
//   - tests that run only in the matrix, with full length (make test-matrix): matrix.txt and
//     matrix.go. make test runs every test, some in a short form. A test that needs more than small
//     Debian packages, or takes long, calls [Matrix]; a test with a short form calls [Pick] or
//     [Check]. Each fails the test if matrix.txt does not list it, so that every test runs in one
//     of both. The runs select tests by name, so no other test may have the name of a listed test
//   - tests that gain nothing under the race detector call [Plain]: plain.go
//   - random choices and their seed: seed.go
//   - exit status of a package: main.go
//
// Environment variables, which no other package reads:
//
//	CTXFS_MATRIX=1  full forms: make test-matrix sets it
//	CTXFS_SOAK=1    forms that take hours: make soak sets it
//	CTXFS_RANDOM=1  new random choices in each run, instead of the same ones
//	CTXFS_SEED=N    random choices of seed N
//	CTXFS_PLAIN=F   the file F receives the tests that [Plain] skips
//
// # Files, from top to bottom
//
//	main.go      tests of a package
//	mutants.go   tests with a broken guard
//	plain.go     tests that the race detector skips
//	race_off.go  constant: the build has the race detector (race_on.go)
//	matrix.go    tests of the matrix
//	seed.go      seed of random choices
package suite
