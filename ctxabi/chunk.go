package ctxabi

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

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
