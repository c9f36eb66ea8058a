package pack

// memoryText shows the top memories for task.
func memoryText(task string, files []File, top int, fits func(string) bool, cache *corpora) selection {
	return selection{}
}

// knowledgeText shows the top paragraphs of knowledge/ for task.
func knowledgeText(task string, files []File, top int, fits func(string) bool, cache *corpora) selection {
	return selection{}
}

// playbookText shows the playbook that suits task best.
func playbookText(task string, files []File, fits func(string) bool, cache *corpora) selection {
	return selection{}
}
