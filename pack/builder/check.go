package builder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recall"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/pack/swap"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
)

// FileKinds are the files that packs are remembered by, for [check.Fsck]. All of them are derived content.
func FileKinds() []check.FileKind {
	const in = ctxabi.InternalDir + "/"
	kinds := []check.FileKind{
		{Name: in + source.LastRecipeFile, Class: check.Cache, Check: check.DerivedFile(jsonOf[source.LastRecipe])},
		{Name: in + epochFile, Class: check.Cache, Check: check.DerivedFile(jsonOf[epochNote])},
		{Name: in + outputsDir + "/", Class: check.Cache},
		{Name: in + outputsDir + "/*", Class: check.Cache, Check: check.DerivedFile(checkOutput)},
		{Name: in + session.AskedFile, Class: check.Cache, Check: check.DerivedFile(jsonOf[session.Asked])},
		{Name: in + session.ProjectFile, Class: check.Kept, Check: check.DerivedLines(jsonOf[projectRow])},
		{Name: in + path.Dir(statesName) + "/", Class: check.Cache},
		{Name: in + digestName, Class: check.Cache, Check: check.DerivedFile(jsonOf[storedDigest])},
		{Name: in + path.Dir(swap.NotesName) + "/", Class: check.Cache},
		{Name: in + swap.NotesName, Class: check.Cache, Check: check.DerivedLines(jsonOf[swap.Departure])},
		{Name: in + swap.RowsName, Class: check.Cache, Check: check.DerivedLines(checkSwapRow)},
		{Name: in + path.Dir(swap.DedupName) + "/", Class: check.Cache},
		{Name: in + swap.DedupName, Class: check.Cache, Check: check.DerivedLines(jsonOf[swap.Batch])},
	}
	for name, valid := range prefixStates {
		stored := func(_ *check.CheckedFile, data []byte) error { return valid(data) }
		kinds = append(kinds, check.FileKind{Name: in + name, Class: check.Cache, Check: check.DerivedFile(stored)})
	}
	return kinds
}

// prefixStates are the files of [prefix.Store], each with its check.
var prefixStates = map[string]func(data []byte) error{
	foldsName:         func(data []byte) error { return journal.CheckFolds(data, pack.RendererVersion) },
	statesName:        func(data []byte) error { return journal.CheckStates(data, pack.RendererVersion) },
	termsBlocks + "*": recall.CheckBlock,
}

// jsonOf checks that data is what a T marshals to, and of no other kind.
func jsonOf[T any](_ *check.CheckedFile, data []byte) error {
	if err := check.StrictJSON(data, new(T)); err != nil {
		return fmt.Errorf("it cannot be decoded: %w", err)
	}
	return nil
}

func checkSwapRow(_ *check.CheckedFile, line []byte) error {
	var row swap.StoredRow
	if err := check.StrictJSON(line, &row); err != nil {
		return fmt.Errorf("it cannot be decoded: %w", err)
	}
	if ctxabi.ParseContentID(row.ID) != nil || row.ID != row.Ref.ID() {
		return errors.New("the row belongs to no content")
	}
	return nil
}

// checkOutput checks that what is kept of a generator belongs to the session and stands under its name.
func checkOutput(f *check.CheckedFile, data []byte) error {
	head, _, ok := bytes.Cut(data, []byte("\n"))
	var s storedHead
	if !ok || json.Unmarshal(head, &s) != nil {
		return errors.New("it is not the output of a generator")
	}
	if ctxabi.InternalDir+"/"+storedName(s.Name) != f.Rel {
		return fmt.Errorf("it is the output of %q, which is stored under another name", s.Name)
	}
	if id := f.Session(); id != "" && s.Session != id {
		return errors.New("it is of another session")
	}
	return nil
}

// CheckChunks reads all that the rows of what left prompts and of what repeats stand for, and holds it against their hashes.
// Rows that were never made are not missing: it looks at what is known, and builds nothing.
// It returns an error when the rows cannot be read, and that of ctx when ctx ends.
func CheckChunks(ctx context.Context, x *session.Session) (found []check.Problem, err error) {
	check := func(file string, ref ctxabi.ContentRef) {
		sum, _, err := x.Measure(ref)
		switch {
		case err != nil:
			found = append(found, check.Problem{Log: ctxabi.InternalDir + "/" + file, Severity: check.Rebuildable,
				What: fmt.Sprintf("the bytes of %s cannot be read from %s: %v", ref.ID(), swap.SourceOf(ref), err)})
		case fmt.Sprintf("sha256-%x", sum) != ref.ID():
			found = append(found, check.Problem{Log: ctxabi.InternalDir + "/" + file, Severity: check.Rebuildable,
				What: fmt.Sprintf("%s does not have the bytes of %s", swap.SourceOf(ref), ref.ID())})
		}
	}
	for _, file := range []string{swap.RowsName, swap.DedupName} {
		lines, err := x.DerivedLines(file)
		if err != nil {
			return found, err
		}
		for _, line := range lines {
			if err := ctx.Err(); err != nil {
				return found, err
			}
			if file == swap.RowsName {
				var row swap.StoredRow
				if json.Unmarshal(line, &row) == nil {
					check(file, row.Ref)
				}
				continue
			}
			var b swap.Batch
			if json.Unmarshal(line, &b) != nil {
				continue
			}
			for _, c := range b.Contents {
				check(file, c.Ref)
			}
		}
	}
	return found, nil
}
