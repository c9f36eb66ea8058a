package member

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// tokenBegin is how a token of this form begins.
const tokenBegin = "ctxfs1."

// maxToken is how many bytes the content of a token may have.
const maxToken = 1 << 20

// bundle is what a token holds: all that a machine needs. Who has it can be that machine.
type bundle struct {
	Machine Machine           `json:"machine"`
	Files   map[string][]byte `json:"files"`
	Uids    map[string]uint32 `json:"uids,omitempty"` // names of users where the cluster was made
}

// token returns the bundle as a word.
func (b bundle) token() (string, error) {
	data, err := json.Marshal(b)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	sum := sha256.Sum256(data)
	out.Write(sum[:8]) // a word that lost its end is refused
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	return tokenBegin + base64.RawURLEncoding.EncodeToString(out.Bytes()), err
}

// parseToken returns the bundle of a word, or ErrConfig.
func parseToken(word string) (b bundle, err error) {
	bad := func(why any) (bundle, error) {
		return bundle{}, fmt.Errorf("%w: the token is damaged or incomplete: %v", ErrConfig, why)
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(word), tokenBegin)
	if !ok {
		return bad("it does not begin with " + tokenBegin)
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return bad(err)
	}
	if len(raw) < 8 {
		return bad("it is too short")
	}
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(raw[8:])), maxToken))
	if err != nil {
		return bad(err)
	}
	if sum := sha256.Sum256(data); !bytes.Equal(sum[:8], raw[:8]) {
		return bad("its checksum differs")
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return bad(err)
	}
	for name := range b.Files {
		switch name {
		case serverFile, serverCert, serverKey, caCert, hostSeed, maintenanceSeed, systemSeed:
		default:
			return bad("it has a file " + name)
		}
	}
	return b, nil
}

// hashToken returns how a machine remembers with which token it joined.
func hashToken(word string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(word)))
	return hex.EncodeToString(sum[:])
}

// Join makes the machine of a directory the one of a token. With the same token as before it changes
// nothing. It returns ErrConfig for a token that is none, for a directory that is of a cluster already,
// and, unless anyUids is set, if a host's users have other uids than where the cluster was made.
func Join(dir, word string, anyUids bool) (Machine, error) {
	b, err := parseToken(word)
	if err != nil {
		return Machine{}, err
	}
	hash := hashToken(word)
	if m, err := Read(dir); err == nil && m.Token == hash {
		return m, nil
	}
	if b.Files[hostSeed] != nil && !anyUids {
		if err := compareUids(b.Uids, b.Machine.Owners); err != nil {
			return Machine{}, err
		}
		b.Machine.Uids = b.Uids
	}
	b.Machine.Token = hash
	if err := install(dir, b.Files, b.Machine); err != nil {
		return Machine{}, err
	}
	return Read(dir)
}
