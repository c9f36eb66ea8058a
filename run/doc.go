// Package run holds no code. It describes the layer that acts for a user outside the store: it
// reads workspace files, runs generators (commands of a recipe that make content for a pack), and
// keeps the list of files that the user trusts.
//
//	runner  opens files and runs commands as the session's owner, with limits and a sandbox
//	trust   rows of the user's trust file, for `ctxfs trust`
//	cli     verbs: trust, and the hidden runner
//
// The packages may import ctxabi, pack/source, and internal/. Package pack/source declares the
// interfaces (Workspace, Generators) and decides whether the owner trusts a recipe or script.
//
//	pack/source (workspace files), pack/builder (generators), in the daemon
//	  → runner.Client: ReadFiles, Inputs, Run
//	  → broker → reader of the user, for files; shim → launcher → command, for a generator
//	  → bytes, or a reason for the report of the pack
//
// Where is it decided?
//
//   - Rights, limits, sandbox, and end of a command: runner.
//   - Trust in a recipe or a script: pack/source/trust.go; rows of the trust file: trust.
//   - Reuse of an earlier output, and the wait for a generator: pack/builder (outputs_*.go).
//
// Open first: runner/runner.go (client), runner/generate.go (one run), runner/confine.go (limits).
package run
