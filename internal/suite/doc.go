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
// out of both. The runs select tests by name, so no other test may have the
// name of a listed test.
//
// `make race` runs the packages with concurrency under the race detector. A
// test that gains nothing there calls [Plain].
//
// These variables choose, and nothing else reads them:
//
//	CTXFS_MATRIX=1  the full forms: make test-matrix sets it
//	CTXFS_SOAK=1    the forms that take hours: make soak sets it
//	CTXFS_RANDOM=1  new random choices in each run, instead of the same ones
//	CTXFS_SEED=N    the random choices of seed N
//	CTXFS_PLAIN=F   the file F receives the tests that [Plain] skips
//
// # Files, from top to bottom
//
//	main.go      the tests of a package
//	plain.go     tests that the race detector skips
//	race_off.go  whether the build has the race detector (race_on.go)
//	matrix.go    the tests of the matrix
//	seed.go      the seed of random choices
package suite
