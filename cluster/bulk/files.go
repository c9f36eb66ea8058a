package bulk

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// settings are the files of a session that users and programs write as wholes, and that exist once.
var settings = slices.Concat([]string{ctxabi.StateFile, ctxabi.CwdFile, ctxabi.MetaFile, ctxabi.BudgetFile, ctxabi.PolicyFile, ctxabi.RecipeFile,
	ctxabi.EnvFile, ctxabi.ProjectFile, ctxabi.PlanFile, ctxabi.DiffFile, ctxabi.HandoffFile}, ctxabi.NoteFiles, ownNotes(), session.ForeignFiles())

// kept are files that ctxfs made and cannot make again: packs show what is in them.
var kept = []string{ctxabi.InternalDir + "/" + session.SummariesFile, ctxabi.InternalDir + "/" + session.ProjectFile,
	ctxabi.InternalDir + "/" + session.VersionsFile,
	ctxabi.InternalDir + "/epoch.json", ctxabi.InternalDir + "/recipe.json", log.SetsFile}

// outputsDir holds what generators gave last, which differs from host to host.
const outputsDir = ctxabi.InternalDir + "/outputs"

// isDerived reports whether a file of a snapshot is one that ctxfs made.
func isDerived(name string) bool { return slices.Contains(kept, name) || path.Dir(name) == outputsDir }

// ownNotes returns the files in which the agent adds to derived notes.
func ownNotes() (names []string) {
	for _, name := range ctxabi.NoteFiles {
		names = append(names, ctxabi.OwnNote(name))
	}
	return names
}

// isChild reports whether a snapshot may have a child of this name.
func isChild(name string) bool { return ctxabi.ValidName(name) == nil }

// isFile reports whether a snapshot may have a file of this name, and to which child it belongs; "" to
// none. No such name leads out of the session, to its logs or to what a host keeps for itself.
func isFile(name string) (child string, ok bool) {
	if slices.Contains(settings, name) || slices.Contains(kept, name) {
		return "", true
	}
	if path.Clean(name) != name || !filepath.IsLocal(name) || strings.ContainsRune(name, 0) {
		return "", false
	}
	if dir := path.Dir(name); dir == ctxabi.PinnedDir || dir == outputsDir {
		return "", true
	}
	child, file, ok := ctxabi.SplitChild(name)
	return child, ok && (slices.Contains(ctxabi.ChildFiles, file) || strings.HasPrefix(file, ctxabi.ChildArtifact+"/"))
}

// directories returns where files lie that exist any number of times, relative to the session.
func directories(children []string) []string {
	dirs := []string{ctxabi.PinnedDir, outputsDir}
	for _, child := range children {
		dirs = append(dirs, ctxabi.ChildPath(child))
	}
	return dirs
}

// deepest is how many directories of artifacts may lie in each other.
const deepest = 64
