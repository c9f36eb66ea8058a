package ctxabi

// SwapRow is a row of context/swap/index.jsonl: something that left the prompt.
type SwapRow struct {
	Bytes   int64  `json:"bytes"`
	ID      string `json:"id"` // "sha256-<hex>", and the name below context/swap/chunk
	Kind    string `json:"kind"`
	Range   string `json:"range"`   // of records: "1-118"
	Source  string `json:"source"`  // "messages" or "events"
	Summary string `json:"summary"` // one line of its own words
	Tokens  int    `json:"tokens"`  // about, by Weight

	Ref ContentRef `json:"-"`
}

// Kinds of swapped content.
const (
	SwapRange  = "message_range" // the raw lines that one compaction let go
	SwapOutput = "tool_output"   // what a tool's result says, decoded
)

// BlobRow is a row of context/dedup/index.jsonl: content that stands in the history more than once, an image or a file in it, or
// what a user stored.
type BlobRow struct {
	Bytes  int64  `json:"bytes"`
	Hash   string `json:"hash"` // "sha256-<hex>", and the name below context/dedup/blob
	Kind   string `json:"kind"`
	Refs   int    `json:"refs"`             // how often it stands in the history
	Source string `json:"source"`           // where it stands first: "messages:12", "events:7"; "user"
	Tokens int    `json:"tokens,omitempty"` // of a text: about, by Weight

	Ref ContentRef `json:"-"` // zero of what a user stored
}

// Kinds of blobs.
const (
	BlobText  = "text"
	BlobImage = "image"
	BlobFile  = "file"
)

// BlobOfUser is the source of a blob that a user stored.
const BlobOfUser = "user"
