// Package tests checks the source tree: the import table (arrows_test.go, layers_test.go), the
// limits of size and style per folder (limits.txt, limits_test.go), complexity, the direction of
// calls, doc.go, and docs/map.md. `make lint` and .ci/run run it.
//
// The sub-folders test the built program through a real mount, one folder per subject: append,
// crash, perm, pack, recipe, search, gc, agents, mcp, ui, container, host, and so on. They
// share
//
//	harness   starts mounts, runs client programs as any user, compares files, checks for leaks
//	bench     speed, as ratios within one run (make bench)
//
// internal/suite decides which tests run in short form; internal/suite/matrix.txt lists the tests
// that run in full form only in `make test-matrix`.
//
// A test of one package is in that package, next to the code.
package tests
