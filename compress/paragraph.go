package compress

// Paragraph is a part of a text: whole lines that belong together.
type Paragraph struct {
	Text     string   // lines From to To, without the last newline
	From, To int      // lines, 1-based, both included
	Under    []string // the headings above it, outermost first; not those in Text
}

// Paragraphs splits Markdown, or any text.
func Paragraphs(text string) []Paragraph { return nil }

// Items is Paragraphs with each item of an outer bullet list on its own.
func Items(text string) []Paragraph { return nil }
