package ctxabi

// FormatVersion is the version of the store's on-disk format. A store with a
// higher one is refused; older ones stay readable.
const FormatVersion = 4

// Version is the version of ctxfs. Releases set it with -ldflags -X.
var Version = "0.1.0-dev"
