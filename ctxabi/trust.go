package ctxabi

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"path"
	"strings"
)

// Trust is one row of home/<uid>/trust.jsonl: that user lets ctxfs do as him what this file says.
type Trust struct {
	Path   string `json:"path"`   // relative to the root of the mount
	SHA256 string `json:"sha256"` // of the file's content, hex; another content needs another row
}

// ParseTrust reads trust.jsonl: a row a line, blank lines allowed, no other keys. The error is of kind ErrMalformed and names the line.
func ParseTrust(data []byte) ([]Trust, error) {
	var rows []Trust
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		bad := func(why string) error {
			return E("set", TrustFile, ErrMalformed, "line %d: %s; expected {\"path\":\"home/1000/agent/coder/context.yaml\",\"sha256\":\"<64 hex digits>\"}", i+1, why)
		}
		var row Trust
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&row); err != nil {
			return nil, bad(err.Error())
		}
		if _, err := d.Token(); err != io.EOF {
			return nil, bad("more than one object")
		}
		if row.Path == "" || path.Clean(row.Path) != row.Path || path.IsAbs(row.Path) || row.Path == ".." || strings.HasPrefix(row.Path, "../") {
			return nil, bad("path must be relative to the root of the mount, without . and ..")
		}
		if b, err := hex.DecodeString(row.SHA256); err != nil || len(b) != 32 || strings.ToLower(row.SHA256) != row.SHA256 {
			return nil, bad("sha256 must have 64 hex digits")
		}
		rows = append(rows, row)
	}
	return rows, nil
}
