package toolcall

import "strings"

// PatchedFile is a file in a patch. Act is Changes, Writes, or Removes. If the patch moves the
// file, To is its new path.
type PatchedFile struct{ Path, Act, To string }

// patchMarks are the prefixes of lines that name a file.
var patchMarks = []struct{ text, act string }{
	{"*** Update File: ", Changes}, {"*** Add File: ", Writes}, {"*** Delete File: ", Removes},
}

// PatchedFiles returns the files of a patch in the apply_patch format. text is the patch, a script
// that runs apply_patch, or JSON arguments. In any other text, a patch is content, and PatchedFiles
// returns nil.
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
