// Package suite holds what the test packages of the project share: how long a
// run is to be, and how random it is. It is for test files alone and imports
// nothing of the project.
//
// A package whose tests use it, or use pgregory.net/rapid, begins with
//
//	func TestMain(m *testing.M) { suite.Main(m) }
//
// (packages below tests/ call harness.Main, which calls this one).
//
// # Length
//
// `make test` runs every test, some of them in a short form; `make test-matrix`
// runs the tests that matrix.txt lists, in full. A test that needs more than
// small Debian packages, or that is long by nature, calls [Matrix] and runs
// there alone. A test that has a short form calls [Pick] or [Check]. Any of
// them fails the test when matrix.txt does not list it, so that no test is left
// out of both.
//
// These variables choose, and nothing else reads them:
//
//	CTXFS_MATRIX=1  the full forms: make test-matrix sets it
//	CTXFS_SOAK=1    the forms that take hours: make soak sets it
//	CTXFS_RANDOM=1  new random choices in each run, instead of the same ones
//	CTXFS_SEED=N    the random choices of seed N
package suite
