// Package cli has the verbs eval and eval exam. It registers them with [Register].
//
// It may not import fs or views.
package cli
