// Package cli has the verbs that read or clean whole stores: gc, verify, and fsck. It registers
// them with [Register].
//
// verify and fsck are here and not in session/cli, because they also read the chunks of packs, the
// index, and the journal of the collector. Package cli may not import fs.
package cli
