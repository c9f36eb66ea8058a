package nats

import (
	"encoding/base32"
	"fmt"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

const (
	prefix      = "ctx.v1."
	objects     = "CTXO"
	owners      = "CTXT"
	metaBucket  = "CTX_META"
	hostsBucket = "CTX_HOSTS"

	maxMessage = 1 << 20 // bytes of a message with its header
	replicas   = 3
)

// stream returns the name of the stream of a shard.
func stream(shard int) string {
	if shard == engine.OwnerShard {
		return owners
	}
	return fmt.Sprintf("CTXJ_%02x", shard)
}

// subject returns where entries of a journal are published.
func subject(s engine.Subject) string {
	if s.Session == "" {
		return prefix + "t." + s.Owner
	}
	return fmt.Sprintf("%sj.%02x.%s.%s", prefix, s.Shard(), s.Owner, s.Session)
}

// republished returns where entries of a journal come out again.
func republished(s engine.Subject) string {
	if s.Session == "" {
		return prefix + "f.t." + s.Owner
	}
	return fmt.Sprintf("%sf.%02x.%s.%s", prefix, s.Shard(), s.Owner, s.Session)
}

var token = base32.HexEncoding.WithPadding(base32.NoPadding)

// objectSubject returns where a part of an object lies, or the pattern of several if part is "*".
func objectSubject(key engine.Key, part string) string {
	return prefix + "o." + key.Owner + "." + strings.ToLower(token.EncodeToString([]byte(key.Name))) + "." + part
}

// objectName returns the name of the object that a subject is a part of.
func objectName(subject string) (string, bool) {
	parts := strings.Split(subject, ".")
	if len(parts) != 6 {
		return "", false
	}
	name, err := token.DecodeString(strings.ToUpper(parts[4]))
	return string(name), err == nil
}

// config is the configuration of a stream of JetStream, as it is requested and reported.
type config struct {
	Name        string            `json:"name"`
	Subjects    []string          `json:"subjects"`
	Retention   string            `json:"retention"`
	Storage     string            `json:"storage"`
	Replicas    int               `json:"num_replicas"`
	Discard     string            `json:"discard"`
	MaxMsgs     int64             `json:"max_msgs"`
	MaxBytes    int64             `json:"max_bytes"`
	MaxAge      time.Duration     `json:"max_age"`
	MaxSize     int32             `json:"max_msg_size"`
	PerSubject  int64             `json:"max_msgs_per_subject"`
	Consumers   int               `json:"max_consumers"`
	Duplicates  time.Duration     `json:"duplicate_window"`
	Direct      bool              `json:"allow_direct"`
	DenyDelete  bool              `json:"deny_delete"`
	DenyPurge   bool              `json:"deny_purge"`
	Rollup      bool              `json:"allow_rollup_hdrs"`
	Sealed      bool              `json:"sealed,omitempty"`
	NoAck       bool              `json:"no_ack,omitempty"`
	PersistMode string            `json:"persist_mode,omitempty"`
	RePublish   *republish        `json:"republish,omitempty"`
	Placement   *placement        `json:"placement,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

type republish struct {
	From string `json:"src"`
	To   string `json:"dest"`
}

type placement struct {
	Tags []string `json:"tags,omitempty"`
}

// journalConfig returns the settings of a stream of journals or of objects.
func journalConfig(name, subjects string, share int64, r *republish) config {
	return config{
		Name: name, Subjects: []string{subjects}, Retention: "limits", Storage: "file", Replicas: replicas, Discard: "new",
		MaxMsgs: -1, MaxBytes: share, MaxSize: maxMessage, PerSubject: -1, Consumers: -1, Duplicates: engine.IDWindow,
		Direct: true, DenyDelete: true, RePublish: r,
	}
}

// bucketConfig returns the settings of a bucket of keys and values.
func bucketConfig(name, storage string, age time.Duration) config {
	c := journalConfig("KV_"+name, "$KV."+name+".>", -1, nil)
	c.Storage, c.MaxAge, c.PerSubject, c.Rollup, c.MaxSize = storage, age, 1, true, -1
	if age > 0 && age < c.Duplicates {
		c.Duplicates = age
	}
	return c
}

// configs returns the settings of all streams. The journals and the objects may take share bytes of the
// disk of a server each; -1 is no limit.
func configs(share Share) []config {
	list := []config{
		journalConfig(owners, prefix+"t.*", share.Journals, &republish{prefix + "t.*", prefix + "f.t.{{wildcard(1)}}"}),
		journalConfig(objects, prefix+"o.*.*.*", share.Objects, nil),
		bucketConfig(metaBucket, "file", 0),
		bucketConfig(hostsBucket, "memory", HostLife),
	}
	for i := range engine.Shards {
		shard := fmt.Sprintf("%02x", i)
		list = append(list, journalConfig(stream(i), prefix+"j."+shard+".*.*", share.Journals, &republish{
			prefix + "j." + shard + ".*.*", prefix + "f." + shard + ".{{wildcard(1)}}.{{wildcard(2)}}",
		}))
	}
	return list
}

// Share is how many bytes of the disk of a server a stream may take; 0 and less are no limit.
type Share struct {
	Journals int64 // of each of the 17 streams of journals
	Objects  int64
}

// limits returns the share as JetStream wants it.
func (s Share) limits() Share {
	if s.Journals <= 0 {
		s.Journals = -1
	}
	if s.Objects <= 0 {
		s.Objects = -1
	}
	return s
}

// differences returns in what a stream is not as it is needed.
func (c config) differences(is config) (list []string) {
	add := func(what string, is, want any) {
		if is != want {
			list = append(list, fmt.Sprintf("%s is %v instead of %v", what, is, want))
		}
	}
	add("subjects", strings.Join(is.Subjects, " "), strings.Join(c.Subjects, " "))
	add("retention", is.Retention, c.Retention)
	add("storage", is.Storage, c.Storage)
	add("discard", is.Discard, c.Discard)
	add("max_age", is.MaxAge, c.MaxAge)
	add("max_msgs", is.MaxMsgs, c.MaxMsgs)
	add("max_msgs_per_subject", is.PerSubject, c.PerSubject)
	add("allow_direct", is.Direct, c.Direct)
	add("deny_delete", is.DenyDelete, c.DenyDelete)
	add("allow_rollup_hdrs", is.Rollup, c.Rollup)
	add("sealed", is.Sealed, false)
	add("no_ack", is.NoAck, false)
	if is.Replicas < c.Replicas {
		add("num_replicas", is.Replicas, c.Replicas)
	}
	if is.Duplicates < c.Duplicates {
		add("duplicate_window", is.Duplicates, c.Duplicates)
	}
	if is.MaxSize >= 0 && is.MaxSize < maxMessage {
		add("max_msg_size", is.MaxSize, maxMessage)
	}
	if is.PersistMode != "" && is.PersistMode != "default" {
		add("persist_mode", is.PersistMode, "default")
	}
	var a, b republish
	if is.RePublish != nil {
		a = *is.RePublish
	}
	if c.RePublish != nil {
		b = *c.RePublish
	}
	add("republish", a, b)
	return list
}
