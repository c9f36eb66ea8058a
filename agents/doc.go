// Package agents holds no code. It describes the layer between ctxfs and agent programs:
// transcripts in and out of sessions, hooks, the MCP server, and the settings of the programs.
//
//	adapter     formats of transcripts: conversion to records and back, one sub-folder per format
//	transcript  import, export, and follow: files, sessions, children, places of programs
//	hook        answers of hooks; internal/jobs has the imports that continue after the answer
//	mcp         MCP server of one session; memory below it: Anthropic's memory tool
//	brief       text about an agent's memory, for hook and mcp
//	install     hooks and MCP entry in the settings of programs
//	cli         verbs: import, export, hook, mcp, memory, snippet, install
//
// The packages may import ctxabi, internal/, and each other; transcript imports session too. None
// imports fs or pack: they use a mount as any program does, or a store without a daemon.
//
//	transcript file → transcript → adapter/formats (Detect) → adapter/<format> → session
//	session → transcript (Records) → adapter/<format> → file, also where a program resumes it
//	hook of a program → hook → transcript (import), brief (memory text) → program
//	MCP client → mcp → files of the mount
//
// Where is it decided?
//
//   - Format of a file: adapter/formats. Meaning of a line: adapter/<format>.
//   - Shape of an imported record, duplicates, losses: adapter.
//   - Files and sub-agents that belong to a session, place of its files: transcript.
//   - Session and memory text of a hook: hook. Session and tools of an MCP client: mcp.
//   - Programs that can be connected, edits of their settings: install.
//
// Open first: adapter/adapter.go (contract of a format), transcript/importer.go (one import),
// hook/hook.go (Answer).
package agents
