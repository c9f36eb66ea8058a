package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// Each delivery of a summary is a version. Two places hold versions: the events of type summary,
// which are records like any other, and VersionsFile, which has a line for each write to summary.md
// and for each retraction. The list of versions merges both in the order of delivery. It is a
// function of the logs and of that file, so that a prefix of the history has a prefix of the list.

// VersionsFile is derived content in lines that holds what was written to context/summary.md. It
// cannot be derived again; each line is durable when the write returns.
const VersionsFile = "versions"

// VersionRow is a line of [VersionsFile]: a delivered text, or the retraction of all versions
// before it.
type VersionRow struct {
	Upto     int    `json:"upto"`             // as in ctxabi.SummaryVersion, likewise the next three
	Messages int    `json:"messages"`         //
	Events   int    `json:"events"`           //
	Writer   string `json:"writer,omitempty"` //
	SHA256   string `json:"sha256,omitempty"` //
	At       int64  `json:"at"`               // nanoseconds since 1970
	Retracts bool   `json:"retracts,omitempty"`
	Text     string `json:"text,omitempty"`
}

// Check returns an error if the row is not one that ctxfs writes.
func (r *VersionRow) Check() error {
	switch {
	case r.Messages < 0 || r.Events < 0 || r.Upto < 0 || r.Upto > r.Messages:
		return errors.New("its range is beyond the messages of its delivery")
	case !r.Retracts && r.SHA256 != ctxabi.SummarySum([]byte(r.Text)):
		return errors.New("its text does not match its hash")
	case !r.Retracts && !slices.Contains(ctxabi.SummaryWriters, r.Writer):
		return errors.New("its writer is not known")
	}
	return nil
}

// Version is a delivered version of the summary.
type Version struct {
	ctxabi.SummaryVersion
	At        time.Time
	Retracted bool // it was removed after its delivery
	row       int  // its line in VersionsFile, from 1; 0: it is an event; ofOldFile: of an older store
	line      int  // its event
	older     bool // Base stayed in use at its delivery
	copied    bool // an exported event repeats it
}

// OfEvent reports whether the version is an event of the log.
func (v Version) OfEvent() bool { return v.row == 0 }

// ofOldFile is the row of the version that a store from before versions has as a file.
const ofOldFile = -1

// Summaries are the versions of a summary, oldest first.
type Summaries struct {
	List    []Version
	Removed []Removal

	inUse int  // number of the version in use; 0: none
	old   bool // nothing was delivered but the file of an older store
}

// Removal is a retraction of all versions before it.
type Removal struct {
	Versions         int // how many there were
	Messages, Events int // the log heads at the removal
}

// InUse returns the version in use. ok is false if there is none.
func (s *Summaries) InUse() (v Version, ok bool) { return s.Get(s.inUse) }

// Get returns version n. ok is false if there is none.
func (s *Summaries) Get(n int) (v Version, ok bool) {
	if n < 1 || n > len(s.List) {
		return v, false
	}
	return s.List[n-1], true
}

// OfOldStore reports whether the only version is the file of a store from before versions.
func (s *Summaries) OfOldStore() bool { return s.old }

// delivery is a version or a retraction before it is known which version is in use.
type delivery struct {
	VersionRow
	given     bool // Upto is the delivery's own
	copied    bool // from an export, which names its writer
	row, line int
	of        ctxabi.Summary // the event
}

// repeats reports whether the exported event d is the version v.
func (d *delivery) repeats(v Version) bool {
	return !v.Retracted && v.SHA256 == d.SHA256 && v.Upto == d.Upto && v.Writer == d.Writer
}

// repeatsRemoval reports whether the exported retraction d retracted v, which is retracted already.
func (d *delivery) repeatsRemoval(v Version) bool {
	return v.Retracted && v.Messages == d.of.Messages && v.Events == d.of.Events
}

// versions is what a session remembers of its deliveries.
type versions struct {
	size, time int64 // of VersionsFile when rows was read
	rows       []delivery
	seen       int // events that were looked at
	told       int // events of which errors.jsonl reports older versions
	loaded     bool
	events     []delivery
}

// scannedVersions is the name of derived content that says how far events were looked at.
const scannedVersions = "versions.seen"

// saveVersionsAfter is after how many events that content is written again.
const saveVersionsAfter = 1024

// scanned is that content.
type scanned struct {
	Seen  int   `json:"seen"`
	Lines []int `json:"lines"` // events that deliver a summary
}

// Summaries returns the versions of the session's summary. It returns the error of the disk or of a
// log that cannot be read.
func (x *Session) Summaries() (*Summaries, error) { return x.summariesAt(-1) }

// SummariesAt returns the versions that were delivered while the session had at most n messages. It
// returns the errors of Summaries.
func (x *Session) SummariesAt(n int) (*Summaries, error) { return x.summariesAt(max(n, 0)) }

func (x *Session) summariesAt(n int) (*Summaries, error) {
	x.versionsMu.Lock()
	defer x.versionsMu.Unlock()
	list, t, err := x.deliveries()
	if err != nil {
		return nil, err
	}
	s := foldSummaries(list, t.Messages)
	x.tellOlder(s)
	if n < 0 {
		return s, nil
	}
	list = slices.DeleteFunc(list, func(d delivery) bool { return d.Messages > n })
	return foldSummaries(list, t.Messages), nil
}

// tellOlder reports versions of new events that are older than the one in use. x.versionsMu is held.
func (x *Session) tellOlder(s *Summaries) {
	v := x.versions.Get()
	for _, d := range s.List {
		if d.line > v.told && (!d.copied || d.Writer == ctxabi.WriterImport) {
			x.tellUnused(s, d)
		}
	}
	v.told = v.seen
}

// foldSummaries finds the range of each version and the version in use.
func foldSummaries(list []delivery, messages *log.Index) *Summaries {
	s := &Summaries{old: len(list) > 0}
	for _, d := range list {
		s.old = s.old && d.row == ofOldFile
		if d.Retracts {
			if d.copied && slices.ContainsFunc(s.List, d.repeatsRemoval) {
				continue
			}
			for i := range s.List {
				s.List[i].Retracted = true
			}
			s.inUse = 0
			s.Removed = append(s.Removed, Removal{len(s.List), d.Messages, d.Events})
			continue
		}
		if d.copied && slices.ContainsFunc(s.List, d.repeats) {
			continue // the session was exported and imported into itself
		}

		base, used := s.InUse()
		if !d.given && used {
			d.Upto = base.Upto
		} else if !d.given {
			d.Upto = beforeTurn(messages, d.Messages)
		}

		n := len(s.List) + 1
		v := Version{At: time.Unix(0, d.At), row: d.row, line: d.line, copied: d.copied,
			older: used && d.Upto < base.Upto}
		v.SummaryVersion = ctxabi.SummaryVersion{N: n, Upto: d.Upto, Messages: d.Messages, Events: d.Events,
			Writer: d.Writer, Base: s.inUse, SHA256: d.SHA256}
		s.List = append(s.List, v)
		if !v.older {
			s.inUse = n
		}
	}
	return s
}

// beforeTurn returns the number of the last message before the turn that is current after n
// messages: a turn begins with a message of the user. It returns 0 if there is no such message.
func beforeTurn(messages *log.Index, n int) int {
	for line := min(n, messages.Len()); line > 0; line-- {
		if e := messages.At(line); e.Role == ctxabi.User && e.Flags&ctxabi.HasResults == 0 {
			return line - 1
		}
	}
	return 0
}

// deliveries returns all deliveries in their order. x.versionsMu is held.
func (x *Session) deliveries() ([]delivery, *log.Timeline, error) {
	t, err := x.Timeline()
	if err != nil {
		return nil, nil, err
	}
	v := x.versions.Get()
	if err := x.readRows(v); err != nil {
		return nil, nil, err
	}
	if err := x.readSummaryEvents(v, t); err != nil {
		return nil, nil, err
	}
	list := slices.Concat(v.rows, v.events)
	if len(v.rows) == 0 {
		old, err := x.oldSummary(t)
		if err != nil {
			return nil, nil, err
		}
		list = append(old, v.events...)
	}
	// A row was delivered after the events that it counts, and an event after those before it.
	after := func(d delivery) int { return 2*d.Events + min(max(d.row, 0), 1) }
	slices.SortStableFunc(list, func(a, b delivery) int {
		if a.row == ofOldFile || b.row == ofOldFile {
			return a.row - b.row
		}
		return after(a) - after(b)
	})
	return list, t, nil
}

// readRows reads VersionsFile again if it has changed.
func (x *Session) readRows(v *versions) error {
	rel, _ := derivedName("read", VersionsFile)
	x.store.disk.Move.RLock()
	fi, err := x.store.disk.FS.Stat(x.dir.Path(rel))
	x.store.disk.Move.RUnlock()
	if errors.Is(err, fs.ErrNotExist) {
		v.size, v.time, v.rows = 0, 0, nil
		return nil
	}
	if err != nil {
		return vfs.Failed("read", rel, err, "the versions of the summary cannot be read")
	}
	if v.size == fi.Size() && v.time == fi.ModTime().UnixNano() {
		return nil
	}

	rows, err := x.versionRows()
	if err != nil {
		return err
	}
	v.rows = nil
	for i, r := range rows {
		r.Text = "" // it is read again when it is needed
		v.rows = append(v.rows, delivery{VersionRow: r, given: true, row: i + 1})
	}
	v.size, v.time = fi.Size(), fi.ModTime().UnixNano()
	return nil
}

// versionRows reads the whole lines of VersionsFile.
func (x *Session) versionRows() (rows []VersionRow, err error) {
	err = x.EachDerivedLine(VersionsFile, func(line []byte) bool {
		var r VersionRow
		if json.Unmarshal(line, &r) == nil && r.Check() == nil {
			rows = append(rows, r)
		}
		return true
	})
	return rows, err
}

// readSummaryEvents looks at the events that came since the last call. It reports what it ignores
// of an event.
func (x *Session) readSummaryEvents(v *versions, t *log.Timeline) error {
	if t.EventsErr != nil {
		return nil // the log is reported elsewhere; what was read of it stays
	}
	n := t.Events.Len()
	if !v.loaded || v.seen > n { // the end of the log was lost with the power
		*v = versions{size: v.size, time: v.time, rows: v.rows, loaded: true}
		if err := x.loadSummaryEvents(v, t); err != nil {
			return err
		}
	}

	saved, had := v.seen, len(v.events)
	for ; v.seen < n; v.seen++ {
		if e := t.Events.At(v.seen + 1); e.Flags&(ctxabi.HasCalls|ctxabi.HasResults|ctxabi.Damaged) != 0 {
			continue
		}
		d, ok, err := x.summaryEvent(t, v.seen+1, true)
		if err != nil {
			return err
		}
		if ok {
			v.events = append(v.events, d)
		}
	}
	if len(v.events) > had || v.seen >= saved+saveVersionsAfter {
		x.saveSummaryEvents(v)
	}
	return nil
}

// loadSummaryEvents finds the events again that an earlier process has seen.
func (x *Session) loadSummaryEvents(v *versions, t *log.Timeline) error {
	data, err := x.Derived(scannedVersions)
	var s scanned
	if err != nil || json.Unmarshal(data, &s) != nil || s.Seen > t.Events.Len() {
		return nil
	}

	for _, line := range s.Lines {
		if line < 1 || line > s.Seen {
			return nil
		}
		d, ok, err := x.summaryEvent(t, line, false)
		if err != nil {
			return err
		}
		if ok {
			v.events = append(v.events, d)
		}
	}
	v.seen, v.told = s.Seen, s.Seen
	return nil
}

// saveSummaryEvents stores how far events were looked at. Without it the next process looks again.
func (x *Session) saveSummaryEvents(v *versions) {
	s := scanned{Seen: v.seen, Lines: []int{}}
	for _, d := range v.events {
		s.Lines = append(s.Lines, d.line)
	}
	if data, err := json.Marshal(s); err == nil && !x.store.disk.ReadOnly {
		x.SetDerived(scannedVersions, data)
	}
}

// summaryEvent reads an event. ok is false if it delivers no summary. If tell is set, it reports
// what it ignores.
func (x *Session) summaryEvent(t *log.Timeline, line int, tell bool) (d delivery, ok bool, err error) {
	raw, err := t.Events.Record(line)
	if archive.IsDamage(err) {
		return d, false, nil
	}
	if err != nil {
		return d, false, err
	}
	s, ok, why := ctxabi.DecodeSummaryEvent(raw)
	if !ok {
		if why != "" && tell {
			x.tellSummary(ctxabi.EventsFile, ctxabi.ErrMalformed, "event %d is not a summary: %s", line, why)
		}
		return d, false, nil
	}

	d = delivery{line: line, copied: s.Writer != "", of: s}
	d.Messages, d.Events, d.Retracts, d.of.Text = t.Before(true, line), line, s.Retract, ""
	if s.Retract {
		return d, true, nil
	}
	if s.HasUpto && s.Upto > d.Messages {
		s.Why, s.HasUpto, s.Upto = "its upto is beyond the messages that had arrived", false, 0
	}
	if s.Why != "" && tell {
		x.tellSummary(ctxabi.EventsFile, ctxabi.ErrMalformed, "the range of event %d is ignored: %s", line, s.Why)
	}
	d.given, d.Upto, d.Writer = s.HasUpto, s.Upto, cmp.Or(s.Writer, ctxabi.WriterEvent)
	d.SHA256, d.At = ctxabi.SummarySum([]byte(s.Text)), x.Created().UnixNano()
	return d, true, nil
}

// tellSummary adds a row to context/errors.jsonl.
func (x *Session) tellSummary(name string, kind error, format string, args ...any) {
	if !x.store.disk.ReadOnly {
		x.Report(disk.RowOf("summary", name, 0, ctxabi.E("summary", name, kind, format, args...)))
	}
}

// oldSummary returns the summary that a store from before versions holds as a file.
func (x *Session) oldSummary(t *log.Timeline) ([]delivery, error) {
	row, err := x.oldSummaryRow(t)
	if err != nil || row == nil {
		return nil, err
	}
	row.Text = ""
	return []delivery{{VersionRow: *row, given: true, row: ofOldFile}}, nil
}

// oldSummaryRow returns the row that such a file becomes, or nil. It counts as delivered when the
// file was changed last.
func (x *Session) oldSummaryRow(t *log.Timeline) (*VersionRow, error) {
	note, err := x.fileNote(ctxabi.SummaryFile)
	if err != nil || note.Origin == ctxabi.OriginDerived {
		return nil, err
	}
	name := ctxabi.SummaryFile
	if note.Origin == ctxabi.OriginMixed {
		name = ctxabi.OwnNote(name)
	}
	at := x.changedAt(name)
	messages, err := x.MessagesAt(at)
	if err != nil {
		return nil, err
	}
	messages = min(messages, t.Messages.Len())
	return &VersionRow{Upto: beforeTurn(t.Messages, messages), Messages: messages, Writer: ctxabi.WriterFile,
		SHA256: ctxabi.SummarySum(note.Own), At: at.UnixNano(), Text: string(note.Own)}, nil
}

// SummaryText returns the text of a version. It returns ctxabi.ErrIO if the store has lost it, and
// the error of the disk.
func (x *Session) SummaryText(v Version) ([]byte, error) {
	var rows []VersionRow
	if v.row != 0 {
		var err error
		if rows, err = x.versionRows(); err != nil {
			return nil, err
		}
	}
	if v.row == ofOldFile && len(rows) > 0 {
		v.row = 1 // it became that meanwhile
	}

	var text []byte
	switch {
	case v.row == ofOldFile:
		note, err := x.fileNote(ctxabi.SummaryFile)
		if err != nil {
			return nil, err
		}
		text = note.Own
	case v.row > 0:
		if v.row <= len(rows) {
			text = []byte(rows[v.row-1].Text)
		}
	default:
		t, err := x.Timeline()
		if err != nil {
			return nil, err
		}
		raw, err := t.Events.Record(v.line)
		if err != nil {
			return nil, err
		}
		s, _, _ := ctxabi.DecodeSummaryEvent(raw)
		text = []byte(s.Text)
	}
	if ctxabi.SummarySum(text) != v.SHA256 {
		return nil, ctxabi.E("read", ctxabi.SummaryPath(v.N), ctxabi.ErrIO, "the text of the version is lost; run ctxfs fsck")
	}
	return text, nil
}

// summaryNote returns the note that the version in use is. ok is false if nothing was delivered
// since the session has versions.
func (x *Session) summaryNote() (n Note, ok bool, err error) {
	s, err := x.Summaries()
	if err != nil || s.old || len(s.List) == 0 {
		return n, false, err
	}
	v, used := s.InUse()
	if !used {
		return Note{Origin: ctxabi.OriginDerived}, true, nil
	}
	text, err := x.SummaryText(v)
	return Note{Origin: ctxabi.OriginAgent, Own: text}, true, err
}

// CheckSummary returns ctxabi.ErrMalformed if data, the beginning of what is written to summary.md
// or all of it, names a range that the session does not have.
func (x *Session) CheckSummary(data []byte) error {
	s, err := ctxabi.ParseSummaryFile(data)
	if err != nil || !s.HasUpto {
		return err
	}
	t, err := x.Timeline()
	if err != nil {
		return err
	}
	if n := t.Messages.Len(); s.Upto > n {
		return ctxabi.E("set", ctxabi.SummaryFile, ctxabi.ErrMalformed,
			"upto is %d, but the session has %d messages", s.Upto, n)
	}
	return nil
}

// deliver stores now as a version of the summary, or retracts all versions if now is derived. It
// does nothing if nothing changes. x.notes is held.
func (x *Session) deliver(now Note) error {
	s, err := x.Summaries()
	if err != nil {
		return err
	}
	t, err := x.Timeline()
	if err != nil {
		return err
	}
	row := VersionRow{Messages: t.Messages.Len(), Events: t.Events.Len(), At: x.store.disk.Now().UnixNano()}
	base, used := s.InUse()
	if now.Origin == ctxabi.OriginDerived {
		if !used {
			return nil
		}
		row.Retracts = true
		return x.addVersion(row)
	}

	if err := x.CheckSummary(now.Own); err != nil {
		return err
	}
	d, err := ctxabi.ParseSummaryFile(now.Own)
	if err != nil {
		return err
	}
	row.Text, row.SHA256, row.Upto = d.Text, ctxabi.SummarySum([]byte(d.Text)), d.Upto
	row.Writer = cmp.Or(d.Writer, ctxabi.WriterFile)
	switch {
	case d.HasUpto:
	case used:
		row.Upto = max(base.Upto, x.askedUpto(row.Messages))
	default:
		row.Upto = cmp.Or(x.askedUpto(row.Messages), beforeTurn(t.Messages, row.Messages))
	}
	if used && !s.old && row.SHA256 == base.SHA256 && row.Upto == base.Upto {
		return nil
	}
	if err := x.addVersion(row); err != nil {
		return err
	}
	if s, err := x.Summaries(); err == nil && len(s.List) > 0 {
		x.tellUnused(s, s.List[len(s.List)-1])
	}
	return nil
}

// tellUnused reports a version that is older than the one that was in use at its delivery.
func (x *Session) tellUnused(s *Summaries, v Version) {
	if base, ok := s.Get(v.Base); ok && v.older {
		x.tellSummary(ctxabi.SummaryFile, ctxabi.ErrStale,
			"version %d covers the messages up to %d; version %d, which covers those up to %d, stays in use",
			v.N, v.Upto, base.N, base.Upto)
	}
}

// addVersion appends a row to VersionsFile, durably.
func (x *Session) addVersion(row VersionRow) error {
	x.versionsMu.Lock()
	defer x.versionsMu.Unlock()
	rows, err := x.versionRows()
	if err != nil {
		return err
	}

	var lines [][]byte
	if len(rows) == 0 { // the file of an older store becomes version 1
		t, err := x.Timeline()
		if err != nil {
			return err
		}
		old, err := x.oldSummaryRow(t)
		if err != nil {
			return err
		}
		if old != nil {
			lines = append(lines, old.line())
		}
	}
	if err := x.AppendDerived(VersionsFile, append(lines, row.line())...); err != nil {
		return err
	}
	if err := x.syncLines(VersionsFile); err != nil {
		return err
	}
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	err = errors.Join(x.removeNote(ctxabi.OwnNote(ctxabi.SummaryFile)), x.removeNote(ctxabi.SummaryFile))
	x.Touch()
	if err != nil {
		return vfs.Failed("set", ctxabi.SummaryFile, err, "the version is stored, and the old file stays beside it")
	}
	return nil
}

// line returns the row as VersionsFile has it.
func (r VersionRow) line() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(&r) // strings and numbers
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// versionsUntil returns the lines of VersionsFile that a fork with the first n messages takes
// along.
func (x *Session) versionsUntil(n int) (lines [][]byte, err error) {
	x.versionsMu.Lock()
	defer x.versionsMu.Unlock()
	rows, err := x.versionRows()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		t, err := x.Timeline()
		if err != nil {
			return nil, err
		}
		old, err := x.oldSummaryRow(t)
		if err != nil {
			return nil, err
		}
		if old != nil {
			rows = append(rows, *old)
		}
	}

	for _, r := range rows {
		if r.Messages <= n {
			lines = append(lines, r.line())
		}
	}
	return lines, nil
}
