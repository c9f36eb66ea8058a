package session

import (
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// The disk that a store is on; see package vfs.
type (
	VFS  = vfs.FS
	File = vfs.File
)

// OS is the operating system's disk.
var OS = vfs.OS

// Whose the files of a session are, who wrote a record, and what became of a refusal; see package disk.
type (
	Owner    = disk.Owner
	Writer   = disk.Writer
	ErrorRow = disk.ErrorRow
)

// RowOf returns the row of errors.jsonl for err, with which what the user uid tried (op) on the
// session file name failed.
func RowOf(op, name string, uid uint32, err error) ErrorRow { return disk.RowOf(op, name, uid, err) }

// Archived is how much of a log is sealed.
type Archived = archive.Archived

// PartSource has sealed parts that have no file in the store; see [archive.Source].
type PartSource = archive.Source

// SealedNumber returns the log and the number of a sealed part from its file's name; ok is false
// for another name.
func SealedNumber(name string) (log string, number int, ok bool) { return archive.ParsePartName(name) }

// ReadPlain returns what the log in a file holds, with the sealed parts that lie beside it; see
// [archive.ReadPlain]. It returns the error of a file that cannot be read or inflated.
func ReadPlain(file string) ([]byte, error) { return archive.ReadPlain(file) }

// IsDamage reports whether an error of reading a log is damage of what is stored: other records of
// it can be read.
func IsDamage(err error) bool { return archive.IsDamage(err) }

// What users stored under its hash, and packs that were read; see package blob.
type (
	Blob       = blob.Blob
	BlobStage  = blob.Stage
	Served     = blob.Served
	ServedRow  = blob.Row
	ServedPack = blob.Pack
	ServedAt   = blob.At
)

// Logs, and what is known of their records; see package log.
type (
	Log        = log.Log
	LogView    = log.View
	Stage      = log.Stage
	Batch      = log.Batch
	Key        = log.Key
	Committer  = log.Committer
	Index      = log.Index
	Entry      = log.Entry
	EntryFlags = log.EntryFlags
	MemLog     = log.MemLog
	Timeline   = log.Timeline
	ToolEvent  = log.ToolEvent
)

// The facts about a record.
const (
	HasCalls   = log.HasCalls
	HasResults = log.HasResults
	HasImages  = log.HasImages
	Damaged    = log.Damaged
)

// SealMin is how many new bytes a log must have for [Log.Seal] to seal them.
const SealMin = log.SealMin

// ArrivalRows names the file of a log's arrival rows, relative to the session.
func ArrivalRows(name string) string { return log.ArrivalsFile(name) }

// NewMemLog returns an empty log in memory of the name ctxabi.MessagesFile or ctxabi.EventsFile.
func NewMemLog(name string) *MemLog { return log.NewMemLog(name) }

// Files and directories of a store that belong to its daemon.
const (
	DaemonFile     = "ctxfs.daemon"     // describes the running daemon, so that others find it
	VolumesFile    = "ctxfs.volumes"    // its Docker volumes
	MountpointFile = "ctxfs.mountpoint" // its change to the directory below the mount
	StrayDir       = "stray"            // files written into that directory while it was not mounted
)
