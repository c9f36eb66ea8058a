// Package postgres is the shared store on PostgreSQL 15 or newer. It implements shared.Store with
// pgx. The functions of the schema, in schema/1.sql, hold the rules; this package calls them and
// maps errors to outcomes.
//
//	Store.Append → call (call.go) → connection of the pool (connect.go)
//	  → ctxfs.append_1 (schema/1.sql) → outcome (errors.go): stored, not stored, or unknown
//
// # Decisions
//
//   - compare-and-set of next and head of a journal: function append in schema/1.sql
//   - which owners a role may use: ctx_grant, and function may in schema/1.sql
//   - settings of a session, refused roles and connections, no cancel requests: connect.go
//   - whether a failed statement may be stored: errors.go. A warning during a commit means that the
//     wait for the standby ended early, so the outcome is unknown although the statement succeeded
//   - server of a read and its fence: function server_1, the start time of the server process
//
// # Files, from top to bottom
//
//	migrate.go  installs and upgrades the schema; grants
//	names.go    agents, sessions, files, objects
//	journal.go  entries, pages, heads, heartbeat, fence, durability
//	call.go     one statement: connection, outcome
//	connect.go  connections and their settings
//	errors.go   meaning of errors
package postgres
