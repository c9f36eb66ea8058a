// Package tokens counts tokens exactly and offline. The ranks of the encodings
// are embedded in the binary; nothing here ever uses the network.
//
// Counts are exact for o200k_base (the default) and cl100k_base, and so for
// the models that use them. A count of a text does not depend on what was
// counted before, and counts of texts that end in a newline add up when the
// next one begins with '#', which is how packs are laid out.
package tokens
