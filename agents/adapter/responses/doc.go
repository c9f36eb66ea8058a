// Package responses converts request bodies of OpenAI's Responses to records and back: items, alone
// or in a body with tools and settings. Package codex reads and writes the items.
//
// Open first: responses.go (Format, detection, bodies and items to records), then export.go
// (records to bodies and items).
package responses
