package pack

// skillsText shows the skills that are active: those that active (of meta.json)
// names and those whose front matter says so. files are all of skills/.
func skillsText(files []File, active []string, fits func(string) bool) selection { return selection{} }
