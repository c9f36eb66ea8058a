package ctxabi

import (
	"encoding/json"
	"strings"
)

// SwapRow is a row of context/swap/index.jsonl: something that left the prompt.
type SwapRow struct {
	Bytes   int64  `json:"bytes"`
	Event   string `json:"event,omitempty"` // of an output in the events: the event's own id, else its number
	ID      string `json:"id"`              // "sha256-<hex>", and the name below context/swap/chunk
	Kind    string `json:"kind"`
	Log     string `json:"log"`     // "messages" or "events"
	Range   string `json:"range"`   // of records: "1-118"
	Source  string `json:"source"`  // MessagesFile or EventsFile
	Summary string `json:"summary"` // one line of its own words
	Tokens  int    `json:"tokens"`  // about, by Weight

	Ref ContentRef `json:"-"`
}

// Named is the row with its log in both forms: rows of earlier versions have the name of the log as their source.
func (r SwapRow) Named() SwapRow {
	r.Log = strings.TrimSuffix(r.Source, ".jsonl")
	r.Source = r.Log + ".jsonl"
	return r
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
	Refs   Places `json:"refs"`             // where it stands in the history: "messages:12", "events:7"; the first MaxPlaces of them
	Count  int    `json:"refs_count"`       // how often in all
	Source string `json:"source"`           // where it stands first: "messages:12", "events:7"; "user"
	Tokens int    `json:"tokens,omitempty"` // of a text: about, by Weight

	Ref ContentRef `json:"-"` // zero of what a user stored
}

// MaxPlaces is how many places the row of a blob lists.
const MaxPlaces = 256

// Places are the sources in the row of a blob. Of a row of an earlier version, which has their number, none are known.
type Places []string

// Add adds a place that is not the last one, while there is room.
func (p *Places) Add(source string) {
	if n := len(*p); n < MaxPlaces && (n == 0 || (*p)[n-1] != source) {
		*p = append(*p, source)
	}
}

// UnmarshalJSON reads a list, or the number that earlier versions have.
func (p *Places) UnmarshalJSON(b []byte) error {
	var n int
	if json.Unmarshal(b, &n) == nil {
		*p = nil
		return nil
	}
	return json.Unmarshal(b, (*[]string)(p))
}

// Kinds of blobs.
const (
	BlobText  = "text"
	BlobImage = "image"
	BlobFile  = "file"
)

// BlobOfUser is the source of a blob that a user stored.
const BlobOfUser = "user"
