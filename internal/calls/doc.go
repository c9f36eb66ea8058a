// Package calls has the rules for tool calls that requests to all model providers share: names,
// ids, and pairs of calls and results. The renderings of a pack (pack/native) and the exports of a
// session (agents/adapter) use it. Images have their rules in package picture.
//
//	name of a tool → Name (names.go) → a name that every provider accepts
//	id of a call   → IDs.Take (names.go) → an id that every provider accepts, once per request
//	calls, results → Pairs (pairs.go) → which call a result answers
package calls
