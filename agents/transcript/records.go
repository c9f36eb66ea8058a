package transcript

import (
	"bytes"
	"errors"
	"fmt"
	iofs "io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// Records returns the records of a session log by log: its messages, its
// events, and then those of its children, and of theirs. A child is the chain
// that its directory is called, the child b of the child a is a.b.
// If saved is set, versions of the summary that no event holds are among the events.
// It returns an error if there is no such session or a log cannot be read; what is damaged or leads nowhere goes to loss.
func Records(from Tree, ref ctxabi.Ref, saved bool, loss func(adapter.Loss)) (logs [][]adapter.Record, err error) {
	h, err := from.open(ref)
	if err != nil {
		return nil, noSession(err, ref)
	}
	read := map[ctxabi.Ref]bool{}
	var walk func(h history, ref ctxabi.Ref, chain string) error
	walk = func(h history, ref ctxabi.Ref, chain string) error {
		read[ref] = true
		for _, log := range []string{ctxabi.MessagesFile, ctxabi.EventsFile} {
			records, err := recordsOfLog(h, log, chain, loss)
			if err != nil {
				return fmt.Errorf("%s: %w", filepath.Join(h.dir(), log), err)
			}
			if saved && log == ctxabi.EventsFile {
				list, err := h.summaries()
				if err != nil {
					return err
				}
				records = withSummaries(records, unlogged(list), chain)
			}
			logs = append(logs, records)
		}
		names, err := h.children()
		if err != nil && !errors.Is(err, iofs.ErrNotExist) {
			return err
		}
		slices.Sort(names)
		for _, name := range names {
			at := strings.TrimPrefix(chain+"."+name, ".")
			to, ok := childRef(h, ref, name)
			if !ok || read[to] {
				loss(adapter.Loss{Where: "child " + at, What: "names no session, or one that is exported already; its result is not part of a transcript"})
				continue
			}
			child, err := from.open(to)
			if session.Gone(err) {
				loss(adapter.Loss{Where: "child " + at, What: "is linked to a session that is not there"})
				continue
			}
			if err == nil {
				err = walk(child, to, at)
			}
			if err != nil {
				return err
			}
		}
		return h.close()
	}
	return logs, walk(h, ref, "")
}

// recordsOfLog leaves out what is damaged.
func recordsOfLog(h history, log, chain string, loss func(adapter.Loss)) (records []adapter.Record, err error) {
	n := 0
	err = eachRecord(h, log, 0, func(line []byte) error {
		n++
		r := adapter.Record{Chain: chain, Event: log == ctxabi.EventsFile, Line: bytes.TrimSpace(line)}
		if err := r.Check(); err != nil {
			where := fmt.Sprintf("record %d of %s", n, log)
			if chain != "" {
				where += " of child " + chain
			}
			loss(adapter.Loss{Where: where, What: "is damaged, and left out"})
			return nil
		}
		records = append(records, r)
		return nil
	})
	return records, err
}

// noSession returns err, in words where it means that there is no session.
func noSession(err error, ref ctxabi.Ref) error {
	if session.Gone(err) {
		return fmt.Errorf("there is no session %s; 'ctxfs session ls' lists them", ref)
	}
	return err
}
