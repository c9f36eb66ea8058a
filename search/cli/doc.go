// Package cli has the verb search. It registers it with [Register].
//
// It may not import pack or fs. A mount opens its index with [NewEngine].
package cli
