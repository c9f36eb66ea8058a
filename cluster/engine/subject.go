package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
)

const (
	// Shards is how many shards the journals of sessions are spread over. It is part of the format.
	Shards = 16
	// OwnerShard is the shard of all journals of owners.
	OwnerShard = Shards
)

// Subject is the name of a journal: of a session, or of an owner if Session is empty.
type Subject struct {
	Owner   string // "u" and a user id in decimal, or "s" and the name of a space in lower-case base32hex
	Session string // the id of the session, 32 hexadecimal digits
}

// Shard returns the shard of the journal. That of a session follows from its id alone.
func (s Subject) Shard() int {
	if s.Session == "" {
		return OwnerShard
	}
	sum := sha256.Sum256([]byte(s.Session))
	return int(binary.LittleEndian.Uint32(sum[:]) % Shards)
}

// String returns the name for messages.
func (s Subject) String() string {
	if s.Session == "" {
		return s.Owner
	}
	return s.Owner + "/" + s.Session
}

// Check returns ErrInvalid if s cannot be the name of a journal.
func (s Subject) Check() error {
	if err := CheckOwner(s.Owner); err != nil {
		return err
	}
	if s.Session != "" && (len(s.Session) != 32 || strings.Trim(s.Session, "0123456789abcdef") != "") {
		return fmt.Errorf("%w: session %q", ErrInvalid, s.Session)
	}
	return nil
}

// CheckOwner returns ErrInvalid if owner cannot be the name of an owner.
func CheckOwner(owner string) error {
	if owner != "" && len(owner) <= 200 {
		switch kind, rest := owner[0], owner[1:]; {
		case kind == 'u' && rest != "" && len(rest) <= 10 && strings.Trim(rest, "0123456789") == "" && (rest == "0" || rest[0] != '0'):
			return nil
		case kind == 's' && rest != "" && strings.Trim(rest, "0123456789abcdefghijklmnopqrstuv") == "":
			return nil
		}
	}
	return fmt.Errorf("%w: owner %q", ErrInvalid, owner)
}

// CheckShard returns ErrInvalid if there is no such shard.
func CheckShard(shard int) error {
	if shard < 0 || shard > OwnerShard {
		return fmt.Errorf("%w: shard %d", ErrInvalid, shard)
	}
	return nil
}
