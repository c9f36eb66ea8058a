package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section"
)

// Input is all that a pack is made from.
type Input struct {
	Session  string // its name
	Agent    string
	Recipe   *recipe.Recipe  // nil: the default one
	Notes    []string        // for the top of the report: what is wrong with the recipe
	Budget   int             // tokens; 0: no limit
	Encoding string          // "": tokens.DefaultEncoding
	State    string          // of the session
	Skills   []string        // names of the active ones as meta.json lists them
	Exists   map[string]bool // of each path of a file_exists condition, as it is written there
	Files    []blocks.File   // in the order of the recipe's sources
	// SummaryFiles are the places of the session's summary in Files, without content, whether the
	// session has a summary or not. They are no part of the pack's id.
	SummaryFiles []blocks.File
	Locations    []string             // where each source of the recipe looks for its files, as File.Path would say; "": nowhere, or as it is written. No part of the pack's id.
	Sections     map[string]string    // the same of the strategy's sections that have a path, by their names
	Errors       []blocks.ErrorEvent  // the newest of events.jsonl, oldest first
	Children     []blocks.ChildResult // in the order in which they stand
	// Summaries lists the delivered versions of the session's summary in the order of delivery.
	Summaries []journal.Summary
	// SummaryNote is the state of the recipe's summarizer for the report. The pack's id does not
	// depend on it.
	SummaryNote string
	// Asking decides whether the pack requests a summary. The pack's id depends on it only if the
	// pack may request one.
	Asking Asking
	// EpochReason is what the caller knows of why this epoch began; "" : what the files prove. It is no part of the pack's id.
	EpochReason string
	Messages    record.Records
	// Head identifies the bytes of Messages: the log's chain value at that length.
	Head string
	// Opening is the SHA-256 of the first message as it is stored; "" if there is none. The tag of
	// marks follows from it, so a fork has the marks of its origin.
	Opening string
	// Decided are the decisions that events record, oldest first.
	Decided []journal.Decided
	// Tools are the events that stand in the journal and where; nil: none do.
	// Events and EventsHead are then the log they are from and its chain value behind the last of them.
	Tools      []ctxabi.EventPlace
	Events     record.Records
	EventsHead string
	// NoEvents means that events.jsonl could not be opened: nothing of it is among all of this.
	NoEvents bool
	// Without lists the sections that the pack does not derive from compacted records.
	Without section.Set
	// Redaction is what was done to all of this so that no secret stands in it; nil: nothing.
	Redaction *Redaction
}

// UsedRecipe is the one that in is compiled by.
func (in *Input) UsedRecipe() *recipe.Recipe {
	if in.Recipe != nil {
		return in.Recipe
	}
	return recipe.Default()
}

// ID is the pack's id: a hash of all that decides the bytes of pack.md, and of the renderer.
func (in *Input) ID(encoding string) string {
	return in.IDOf(in.Around(encoding))
}

// IDOf is the id where around is the hash of all but the records.
func (in *Input) IDOf(around hash.Cloner) string {
	h := in.withSummaries(around)
	fmt.Fprintf(h, "messages %d chain %s\n", in.Messages.Len(), in.Head)
	if n := len(in.Tools); n > 0 {
		fmt.Fprintf(h, "events %d last %+v chain %s\n", n, in.Tools[n-1], in.EventsHead)
	}
	return "sha256-" + hex.EncodeToString(h.Sum(nil))
}

// Around is the hash of all that decides those bytes, but for what depends on the number of records.
func (in *Input) Around(encoding string) hash.Cloner {
	r := in.UsedRecipe()
	h := sha256.New().(hash.Cloner)
	fmt.Fprintf(h, "ctxfs pack, renderer %d\nrecipe %s\nencoding %s\nbudget %d\nsession %q\nagent %q\n",
		RendererVersion, r.Hash, encoding, in.Budget, in.Session, in.Agent)
	if in.Redaction != nil {
		fmt.Fprintf(h, "redaction %s\n", in.Redaction.Fingerprint)
	}
	if in.Without != 0 {
		fmt.Fprintf(h, "without %s\n", in.Without)
	}
	if in.NoEvents {
		fmt.Fprintf(h, "without events\n")
	}
	if blocks.UsesState(r) {
		fmt.Fprintf(h, "state %q\n", in.State)
	}
	for _, path := range slices.Sorted(maps.Keys(in.Exists)) {
		fmt.Fprintf(h, "exists %q %v\n", path, in.Exists[path])
	}
	for _, s := range in.Skills {
		fmt.Fprintf(h, "skill %q\n", s)
	}
	for _, e := range in.Errors {
		fmt.Fprintf(h, "error %d %q\n", e.Line, e.Text)
		if e.Message > 0 {
			fmt.Fprintf(h, "of message %d\n", e.Message)
		}
	}
	for _, d := range in.Decided {
		fmt.Fprintf(h, "decided %d after %d %q\n", d.Line, d.After, d.Text)
	}
	for i := range in.Children {
		fmt.Fprintf(h, "child %+q\n", in.Children[i].Fields())
	}
	var line []byte
	for i := range in.Files {
		line = in.Files[i].AppendTo(line[:0])
		h.Write(line)
	}
	return h
}

// withSummaries returns around extended by the usable summaries and, if the pack may request the
// next one, by the inputs of that decision. It does not change around.
func (in *Input) withSummaries(around hash.Cloner) hash.Hash {
	h, err := around.Clone()
	if err != nil {
		panic(err) // SHA-256 can be cloned
	}
	for _, s := range in.Usable() {
		fmt.Fprintf(h, "summary to %d after %d sha256 %x\n", s.To, s.After, s.ID())
	}
	in.hashAsking(h)
	return h
}

// History is what the journal is folded over: the messages themselves when there is nothing to merge.
func (in *Input) History() record.Records {
	if len(in.Tools) == 0 {
		return in.Messages
	}
	return &record.Merged{Messages: in.Messages, Events: in.Events, Tools: in.Tools}
}

// Usable returns the summaries that were delivered before the last record. The pack shows no other
// versions.
func (in *Input) Usable() []journal.Summary {
	n := in.History().Len()
	return slices.DeleteFunc(slices.Clone(in.Summaries), func(s journal.Summary) bool { return s.After >= n })
}
