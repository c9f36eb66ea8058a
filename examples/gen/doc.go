// Command gen writes the example in examples/session and a file of examples/workspace: a few
// hundred messages of a coding agent that repairs the token refresh of a gateway. The tools work on
// a small workspace in memory (workspace.txtar), so reads, searches, and edits agree. The output is
// the same at each run.
//
//	go run ./examples/gen examples
//
//	main.go (files to write) → story*.go (the conversation) → tools.go (calls and results)
//	  → scene.go (clock, records, workspace) → messages.jsonl, events.jsonl, and their companions
//
// Decisions: files of the example: generate (main.go). Plot: story.go, story_config.go,
// story_share.go, story_end.go, in this order. Long outputs: outputs.go. Times and tokens of
// messages: scene.go. gen_test.go checks that the checked-in files equal the output.
package main
