package toolcall

import "strings"

// PatchedFile is one file of a patch. Act is the name of its change, as in [FileAct]; To is
// the new path of a file that is moved.
type PatchedFile struct{ Path, Act, To string }

// patchMarks begin the lines of a patch that name a file.
var patchMarks = []struct{ text, act string }{
	{"*** Update File: ", Changes}, {"*** Add File: ", Writes}, {"*** Delete File: ", Removes},
}

// PatchedFiles returns the files of a patch in the format of apply_patch, or of a script or
// arguments with one; none for other texts, which may contain a patch as content.
func PatchedFiles(text string) (list []PatchedFile) {
	before, _, ok := strings.Cut(text, "*** Begin Patch")
	isPatch := strings.Trim(before, " \r\n\"'") == "" || strings.Contains(before, "apply_patch") ||
		strings.HasPrefix(text, "{")
	if !ok || !isPatch {
		return nil
	}
	for line := range strings.Lines(strings.ReplaceAll(text, `\n`, "\n")) {
		line = strings.Trim(line, " \r\n\"'")
		for _, mark := range patchMarks {
			if file, ok := strings.CutPrefix(line, mark.text); ok && file != "" {
				list = append(list, PatchedFile{Path: file, Act: mark.act})
			}
		}
		if to, ok := strings.CutPrefix(line, "*** Move to: "); ok && len(list) > 0 {
			list[len(list)-1].To = to
		}
	}
	return list
}
