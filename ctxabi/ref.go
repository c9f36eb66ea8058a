package ctxabi

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ContentRef names bytes of a session's history: what a node shows without a second copy of it, and the value of the
// extended attribute user.ctx.ref. History never changes, so neither do they.
type ContentRef struct {
	Source string      `json:"source"`           // MessagesFile or EventsFile
	Start  int         `json:"start"`            // the first record, and
	End    int         `json:"end"`              // the last one, both included; one record where Form is not ""
	Form   ContentForm `json:"form,omitempty"`   // which bytes of the record
	Part   int         `json:"part,omitempty"`   // which of the record's results, calls or payloads, from 0
	Offset int64       `json:"offset,omitempty"` // of the form's bytes, those from here on
	Length int64       `json:"length,omitempty"` // so many; 0: all that follow
	Hash   string      `json:"hash"`             // "sha256:<hex>" of the bytes that are meant
}

// ContentForm is in which form a [ContentRef] means a record.
type ContentForm string

// The forms.
const (
	FormLines     ContentForm = ""          // the lines of the log, each with its newline
	FormText      ContentForm = "text"      // Message.Text; of a tool event what its result says
	FormResult    ContentForm = "result"    // the text of one of Message.Results
	FormArguments ContentForm = "arguments" // those of one of Message.Calls; of a tool event its own
	FormData      ContentForm = "data"      // the bytes of an image or another payload, out of base64
)

// ID is the content id of what r means: "sha256-<hex>".
func (r ContentRef) ID() string {
	if len(r.Hash) > len("sha256:") {
		return "sha256-" + r.Hash[len("sha256:"):]
	}
	return ""
}

// ContentID names content by its SHA-256: "sha256-<64 hex digits>".
func ContentID(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256-" + hex.EncodeToString(sum[:])
}

// ParseContentID checks the form of a content id. It returns ErrMalformed if s is none.
func ParseContentID(s string) error {
	h, ok := strings.CutPrefix(s, "sha256-")
	if ok && len(h) == ContentIDBytes && strings.ToLower(h) == h {
		if _, err := hex.DecodeString(h); err == nil {
			return nil
		}
	}
	return E("name", "", ErrMalformed, "%q is not sha256-<64 lower-case hex digits>", s)
}
