package fs

import (
	"context"
	"path"
	"strings"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/session/archive"
)

// nameKind is what a name stands for. It decides who may make, change, rename and remove it.
type nameKind int

const (
	ordinary    nameKind = iota // a file of the disk
	control                     // checked when it is committed
	derivedName                 // made by ctxfs, read-only
	built                       // derived, too: a file of a pack; removing it drops the build
	history                     // a log: it only grows
	protected                   // the directories of a session, and names that nothing may take
)

// entry is a row of the table [entries]: what a name of a session is. The identity of its node
// follows from the session's id and the path (roleAttr), but that of a built file from the build. So
// a row without a * whose node is made here is revived: the next daemon finds it by its number. What
// may be done to the name, and what is refused, follows from the kind.
type entry struct {
	path   string // relative to the session; a component * stands for any one name
	kind   nameKind
	mode   uint32     // S_IFREG or S_IFDIR
	always bool       // readdir lists it, whether it is on the disk or not
	disk   bool       // it is what the disk has under that name, as an ordinary file is
	check  writeCheck // of a control file: what is refused of it before it is complete

	match  func(rel string) bool                                  // of a path that ends in *: which names it stands for
	node   func(p *mountedSession, rel string) tableNode          // makes the node; nil: there is nothing to look up
	render func(p *mountedSession, b *pack.Build) ([]byte, error) // of a built file: its bytes
	text   func(p *mountedSession) ([]byte, time.Time, error)     // of a derived file: its bytes and its time
}

// tableNode is a node that a row makes.
type tableNode interface {
	gofs.InodeEmbedder
	// fill fills in the attributes that the file has now, as the handle open sees it, or a look-up if
	// open is nil. It returns ENOENT if there is no such file.
	fill(ctx context.Context, open gofs.FileHandle, a *fuse.Attr) syscall.Errno
}

const (
	modeFile = syscall.S_IFREG
	modeDir  = syscall.S_IFDIR
)

// entries is the one table of a session's names. Lookup, readdir, revival and refusals all read it,
// through [entryOf] and the index below; a directory is listed in the order of its rows. A file
// that is added to the tree is a row here.
var entries = []entry{
	{path: "", kind: protected, mode: modeDir, node: sessionDirNode},
	{path: ctxabi.MessagesFile, kind: history, mode: modeFile, always: true, node: logNode},
	{path: ctxabi.EventsFile, kind: history, mode: modeFile, always: true, node: logNode},
	{path: ctxabi.LatestFile, kind: derivedName, mode: modeFile, always: true, text: latest},
	{path: ctxabi.CreatedFile, kind: derivedName, mode: modeFile, always: true, text: createdAt},
	{path: ctxabi.UpdatedFile, kind: derivedName, mode: modeFile, always: true, text: updatedAt},
	{path: ctxabi.ContextDir, kind: protected, mode: modeDir, always: true, node: sessionDirNode},
	{path: ctxabi.StateFile, kind: control, mode: modeFile, node: controlNode, check: checkLines},
	{path: ctxabi.CwdFile, kind: control, mode: modeFile, node: controlNode, check: checkLines},
	{path: ctxabi.MetaFile, kind: control, mode: modeFile, node: controlNode},

	{path: ctxabi.PackFile, kind: built, mode: modeFile, always: true, render: markdown},
	{path: ctxabi.PackJSONFile, kind: built, mode: modeFile, always: true, render: packJSON},
	{path: ctxabi.ReportFile, kind: built, mode: modeFile, always: true, render: report},
	{path: ctxabi.OpenAIFile, kind: built, mode: modeFile, always: true, render: nativeRendering(native.OpenAI)},
	{path: ctxabi.AnthropicFile, kind: built, mode: modeFile, always: true, render: nativeRendering(native.Anthropic)},
	{path: ctxabi.ResponsesFile, kind: built, mode: modeFile, always: true, render: nativeRendering(native.Responses)},
	{path: ctxabi.GeminiFile, kind: built, mode: modeFile, always: true, render: nativeRendering(native.Gemini)},
	{path: ctxabi.GenAIFile, kind: built, mode: modeFile, always: true, render: nativeRendering(native.GenAI)},
	{path: ctxabi.ErrorsFile, kind: derivedName, mode: modeFile, always: true, text: errorRows},
	{path: ctxabi.GCReportFile, kind: derivedName, mode: modeFile, always: true, text: gcReport},
	{path: ctxabi.PinnedDir, kind: protected, mode: modeDir, always: true, node: sessionDirNode},
	{path: ctxabi.LineDir, kind: protected, mode: modeDir, always: true, node: lineDirNode},
	{path: ctxabi.PacksFile, kind: derivedName, mode: modeFile, always: true, node: packsNode},
	{path: ctxabi.ServedDir, kind: protected, mode: modeDir, always: true, node: fixed(findServed, listServed)},
	{path: ctxabi.AtDir, kind: protected, mode: modeDir, always: true, node: fixed(findMoment, nil)},
	{path: ctxabi.JournalFile, kind: derivedName, mode: modeFile, always: true, node: journalNode},
	{path: ctxabi.RequestsFile, kind: derivedName, mode: modeFile, always: true, node: requestsNode},
	{path: ctxabi.SearchDir, kind: protected, mode: modeDir, always: true, node: fixed(findQuery, listQueries)},
	{path: ctxabi.RecentFile, kind: derivedName, mode: modeFile, always: true, text: recentRows},
	{path: ctxabi.SwapDir, kind: protected, mode: modeDir, always: true, node: fixed(findEntry, listEntries)},
	{path: ctxabi.SwapIndexFile, kind: derivedName, mode: modeFile, always: true, node: indexNode},
	{path: ctxabi.SwapChunkDir, kind: protected, mode: modeDir, always: true, node: fixed(findContent, listContents)},
	{path: ctxabi.DedupDir, kind: protected, mode: modeDir, always: true, node: fixed(findEntry, listEntries)},
	{path: ctxabi.DedupIndex, kind: derivedName, mode: modeFile, always: true, node: indexNode},
	{path: ctxabi.DedupBlobDir, kind: protected, mode: modeDir, always: true, node: blobDirNode},
	{path: ctxabi.ChildDir, kind: protected, mode: modeDir, always: true, node: childrenDirNode},
	{path: ctxabi.SummaryFile, kind: control, mode: modeFile, always: true, node: controlNode, check: checkText},
	{path: ctxabi.SummariesDir, kind: protected, mode: modeDir, always: true, node: fixed(findSummary, listSummaries)},
	{path: ctxabi.AskDir, kind: protected, mode: modeDir, always: true, node: fixed(findEntry, listEntries)},
	{path: ctxabi.AskFile, kind: built, mode: modeFile, always: true, render: requestState},
	{path: ctxabi.AskPromptFile, kind: built, mode: modeFile, always: true, render: requestPrompt},
	{path: ctxabi.AskBody(ctxabi.OpenAIFile), kind: built, mode: modeFile, always: true,
		render: requestBody(native.OpenAI)},
	{path: ctxabi.AskBody(ctxabi.AnthropicFile), kind: built, mode: modeFile, always: true,
		render: requestBody(native.Anthropic)},
	{path: ctxabi.AskBody(ctxabi.ResponsesFile), kind: built, mode: modeFile, always: true,
		render: requestBody(native.Responses)},
	{path: ctxabi.AskBody(ctxabi.GeminiFile), kind: built, mode: modeFile, always: true,
		render: requestBody(native.Gemini)},
	{path: ctxabi.AskBody(ctxabi.GenAIFile), kind: built, mode: modeFile, always: true,
		render: requestBody(native.GenAI)},
	{path: ctxabi.FactsFile, kind: control, mode: modeFile, always: true, node: controlNode, check: checkLines},
	{path: ctxabi.DecisionsFile, kind: control, mode: modeFile, always: true, node: controlNode, check: checkLines},
	{path: ctxabi.TodoFile, kind: control, mode: modeFile, always: true, node: controlNode, check: checkText},
	{path: ctxabi.RefsFile, kind: control, mode: modeFile, always: true, node: controlNode, check: checkLines},
	{path: ctxabi.BudgetFile, kind: control, mode: modeFile, node: controlNode, check: checkLines},
	{path: ctxabi.PolicyFile, kind: control, mode: modeFile, node: controlNode, check: checkLines},
	{path: ctxabi.RecipeFile, kind: control, mode: modeFile, node: controlNode},
	{path: ctxabi.EnvFile, kind: control, mode: modeFile, node: controlNode, check: checkLines},
	{path: ctxabi.ProjectFile, kind: control, mode: modeFile, node: controlNode, check: checkLines},
	{path: ctxabi.PlanFile, kind: control, mode: modeFile, node: controlNode},
	{path: ctxabi.DiffFile, kind: control, mode: modeFile, node: controlNode, check: checkText},
	{path: ctxabi.HandoffFile, kind: control, mode: modeFile, node: controlNode, check: checkText},

	{path: childFile + ctxabi.ChildAgent, kind: control, mode: modeFile, always: true, node: controlNode, check: checkLines},
	{path: childFile + ctxabi.ChildSession, kind: control, mode: modeFile, always: true, node: controlNode, check: checkLines},
	{path: childFile + ctxabi.ChildStatus, kind: control, mode: modeFile, always: true, node: controlNode, check: checkLines},
	{path: childFile + ctxabi.ChildHandoff, kind: control, mode: modeFile, always: true, node: controlNode, check: checkText},
	{path: childFile + ctxabi.ChildResult, kind: control, mode: modeFile, always: true, node: controlNode, check: checkText},
	{path: childFile + ctxabi.ChildRefs, kind: control, mode: modeFile, always: true, node: controlNode, check: checkLines},
	{path: childFile + ctxabi.ChildArtifact, kind: protected, mode: modeDir, disk: true},

	{path: ctxabi.PinnedDir + "/*", kind: control, mode: modeFile, node: controlNode, check: checkText, match: isPin},
	{path: "*", kind: protected, match: isSealed},
	{path: "*", kind: protected, match: isHidden},
}

// childFile begins the paths of the files of any child.
const childFile = ctxabi.ChildDir + "/*/"

// ordinaryFile is the row of every name that the table does not have.
var ordinaryFile = entry{kind: ordinary, mode: modeFile, disk: true}

// table indexes the rows. It is filled by init, because rows hold functions that read it.
var table struct {
	named   map[string]*entry   // the rows without a *, and those of children, by path
	matched []*entry            // the rows that match, in their order
	listed  map[string][]*entry // what a directory always lists, by its path
	revived []*entry            // the rows whose nodes are found again by their numbers
}

func init() {
	table.named, table.listed = map[string]*entry{}, map[string][]*entry{}
	for i := range entries {
		e := &entries[i]
		if e.text != nil {
			e.node = textNode(e.text)
		}
		if e.match != nil {
			table.matched = append(table.matched, e)
			continue
		}
		table.named[e.path] = e
		if e.always {
			table.listed[path.Dir(e.path)] = append(table.listed[path.Dir(e.path)], e)
		}
		if e.node != nil && !strings.Contains(e.path, "*") {
			table.revived = append(table.revived, e)
		}
	}
}

// entryOf returns the row of the name rel of a session. A name without a row is an ordinary file's.
func entryOf(rel string) *entry {
	if e := table.named[rel]; e != nil {
		return e
	}
	if _, name, ok := ctxabi.SplitChild(rel); ok {
		if e := table.named[childFile+name]; e != nil {
			return e
		}
	}
	for _, e := range table.matched {
		if e.match(rel) {
			return e
		}
	}
	return &ordinaryFile
}

// alwaysIn returns the rows that the directory rel of a session always lists. All children share
// theirs.
func alwaysIn(rel string) []*entry {
	switch {
	case rel == "":
		rel = "."
	case path.Dir(rel) == ctxabi.ChildDir:
		rel = path.Clean(childFile)
	}
	return table.listed[rel]
}

func (e *entry) name() string { return path.Base(e.path) }

// role returns the row of the file of session id that has the node number ino, or nil if no revived
// file has it.
func role(id string, ino uint64) *entry {
	for _, e := range table.revived {
		if hashIno(classSession, id, e.path) == ino {
			return e
		}
	}
	return nil
}

func isPin(rel string) bool {
	return path.Dir(rel) == ctxabi.PinnedDir && ctxabi.IsPin(path.Base(rel))
}

// isSealed reports whether rel holds sealed records of a log, which the logs show.
func isSealed(rel string) bool {
	_, _, sealed := archive.ParsePartName(rel)
	return sealed
}

func isHidden(rel string) bool { return hidden(path.Base(rel)) }

// lookup answers a look-up of the file rel, of which e is the row, below parent.
func (p *mountedSession) lookup(ctx context.Context, parent *gofs.Inode, e *entry, rel string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if p.seemsRemoved(ctx, e, rel) {
		return nil, syscall.ENOENT
	}
	if e.kind == built {
		return p.lookupBuilt(ctx, parent, &builtFile{p: p, rel: rel}, out)
	}
	if e.node == nil {
		return nil, syscall.ENOENT
	}
	n := e.node(p, rel)
	if errno := n.fill(ctx, nil, &out.Attr); errno != 0 {
		return nil, errno
	}
	switch {
	case e.mode == modeDir:
		cacheFixed(out)
	case e.kind != control: // which may be removed, or come back, at any moment
		out.SetEntryTimeout(fixedTimeout)
	}
	return parent.NewInode(ctx, n, p.attr(e.mode, rel)), 0
}

// moves reports whether a file of kind k can be renamed, and replaced by a rename.
func (k nameKind) moves() bool { return k == ordinary || k == control }

// derived reports whether ctxfs makes what is of kind k.
func (k nameKind) derived() bool { return k == derivedName || k == built }

// refuse reports in errors.jsonl that a request to make or remove rel, a name of kind k, is
// refused, and returns the errno.
func (k nameKind) refuse(ctx context.Context, p *mountedSession, op, rel string) syscall.Errno {
	switch {
	case k == history:
		return p.deny(ctx, op, rel, ctxabi.ErrAppendOnly, "records are appended; the file cannot be removed, replaced or linked")
	case k.derived():
		return p.deny(ctx, op, rel, ctxabi.ErrReadOnly, "ctxfs makes it from the session")
	}
	return p.deny(ctx, op, rel, ctxabi.ErrProtected, "a session's directories contain regular files; this name cannot be created")
}
