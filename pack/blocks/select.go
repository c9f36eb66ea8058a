package blocks

import (
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// passage is the number of bytes up to which neighboring paragraphs are one passage.
const passage = 600

// MemoryText shows the top memories for task. Each item of a list is a memory, and so is each passage
// of a text; a short text is one. It shows nothing if no memory shares a word with the task.
func MemoryText(task string, files []File, top int, fits func(string) bool, cache *Corpora) Selection {
	return showSnippets(mostRelevant(task, files, top, "memory", splitMemory, cache), fits)
}

// KnowledgeText shows the top passages of knowledge/ for task, the most relevant first, each with its
// path, lines, and the headings above it. It shows nothing if no passage shares a word with the task.
func KnowledgeText(task string, files []File, top int, fits func(string) bool, cache *Corpora) Selection {
	return showSnippets(mostRelevant(task, files, top, "knowledge", splitKnowledge, cache), fits)
}

// PlaybookText shows the playbook that suits task best, or nothing. What its front matter says
// under name, description, when, triggers and tags counts most. A playbook with triggers is used only
// when all words of one of them stand in the task.
func PlaybookText(task string, files []File, fits func(string) bool, cache *Corpora) Selection {
	for _, shown := range mostRelevant(task, files, len(files), "playbook", splitPlaybook, cache) {
		matter, _ := splitFrontMatter(string(files[shown.File].Data))
		if triggered(task, matter.values["triggers"]) {
			shown.about = matter.text("when")
			return showSnippets([]snippet{shown}, fits)
		}
	}
	return Selection{}
}

// triggered reports whether all words of one of phrases stand in task; it holds without phrases.
func triggered(task string, phrases []string) bool {
	if len(phrases) == 0 {
		return true
	}
	for _, phrase := range phrases {
		if compress.Covers(task, phrase) {
			return true
		}
	}
	return false
}

// mostRelevant returns the top parts of files for task, best first.
func mostRelevant(task string, files []File, top int, way string, split func(path, text string) *splitFile, cache *Corpora) (found []snippet) {
	order := usable(files)
	parts, corpus := splitAll(files, order, way, split, cache)
	first := make([]int, len(parts)) // number of each file's first part
	for k := 1; k < len(parts); k++ {
		first[k] = first[k-1] + len(parts[k-1].parts)
	}
	hits := corpus.Rank(task)
	for _, hit := range hits[:min(len(hits), max(0, top))] {
		if hit.Score < hits[0].Score*relevantShare {
			break
		}
		k, exact := slices.BinarySearch(first, hit.Doc)
		if !exact {
			k--
		}
		for k+1 < len(first) && first[k+1] == hit.Doc {
			k++ // files without parts
		}
		f, p := files[order[k]], parts[k].parts[hit.Doc-first[k]]
		s := snippet{excerpt: excerpt{order[k], p.From, p.To}, path: f.Path, about: strings.Join(p.Under, " > "), text: p.Text}
		if len(parts[k].parts) == 1 {
			s = wholeFile(files, order[k])
		}
		found = append(found, s)
	}
	return found
}

// splitAll splits the files of order and makes one corpus of them.
func splitAll(files []File, order []int, way string, split func(path, text string) *splitFile, cache *Corpora) ([]*splitFile, *compress.Corpus) {
	parts := make([]*splitFile, len(order))
	indexes := make([]*compress.Index, len(order))
	for k, i := range order {
		parts[k] = cache.file(&files[i], way, split)
		indexes[k] = parts[k].index
	}
	return parts, compress.JoinIndexes(indexes...)
}

// wholeFile is a file without its front matter.
func wholeFile(files []File, i int) snippet {
	matter, body := splitFrontMatter(string(files[i].Data))
	s := snippet{excerpt: excerpt{File: i}, path: files[i].Path, text: body}
	if matter.lines > 0 { // blank lines below it do not count
		rest := strings.TrimLeft(body, " \t\r\n")
		at := strings.LastIndexByte(body[:len(body)-len(rest)], '\n') + 1
		s.text = body[at:]
		s.From = matter.lines + strings.Count(body[:at], "\n") + 1
		s.To = s.From + strings.Count(strings.TrimRight(s.text, "\r\n"), "\n")
	}
	return s
}

func splitMemory(name, text string) *splitFile {
	matter, body := splitFrontMatter(text)
	return indexed(name, matter, passages(body, compress.Items(body)))
}

func splitKnowledge(name, text string) *splitFile {
	matter, body := splitFrontMatter(text)
	return indexed(name, matter, passages(body, compress.Paragraphs(body)))
}

// passages joins neighbouring paragraphs below the same heading while they are short. What holds
// the items of a list that was split stays apart.
func passages(body string, parts []compress.Paragraph) (joined []compress.Paragraph) {
	begin := 0 // where the last of joined begins in the body
	at := 0
	for _, p := range parts {
		from := at + strings.Index(body[at:], p.Text)
		at = from + len(p.Text)
		if n := len(joined); n > 0 && at-begin <= passage && p.Level == 0 && !p.Item && !joined[n-1].Item {
			joined[n-1].Text, joined[n-1].To = body[begin:at], p.To
			continue
		}
		begin = from
		joined = append(joined, p)
	}
	return joined
}

// indexed indexes the parts of a file, each together with the headings above it and the file's name.
func indexed(name string, matter frontMatter, parts []compress.Paragraph) *splitFile {
	docs := make([]string, len(parts))
	for i := range parts {
		docs[i] = strings.Join(append([]string{keywords(name, matter)}, parts[i].Under...), "\n") + "\n" + parts[i].Text
		parts[i].From += matter.lines
		parts[i].To += matter.lines
	}
	return &splitFile{parts: parts, index: compress.NewIndex(docs)}
}

// keywords is what a file's name and front matter say of it.
func keywords(name string, matter frontMatter) string {
	if _, rest, ok := strings.Cut(name, "/"); ok {
		name = rest // memory/, knowledge/, playbooks/ say nothing
	}
	words := []string{strings.TrimSuffix(name, path.Ext(name))}
	for _, key := range []string{"name", "title", "description", "when", "triggers", "tags", "keywords"} {
		words = append(words, matter.values[key]...)
	}
	return strings.Join(words, "\n")
}

// splitPlaybook indexes a file as a whole. What its front matter says counts three times.
func splitPlaybook(name, text string) *splitFile {
	matter, body := splitFrontMatter(text)
	about := keywords(name, matter) + "\n"
	index := compress.NewIndex([]string{strings.Repeat(about, 3) + body})
	return &splitFile{parts: make([]compress.Paragraph, 1), index: index}
}
