package exam

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the means of all methods, and how the others compare with one. It returns the error of w.
func (s *Score) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s. Means of grades (1, 0.5, 0).\n\n| method |", number(s.Kinds[0].Questions, "question", "questions"), number(s.Prefixes, "history", "histories"))
	for _, k := range s.Kinds {
		fmt.Fprintf(&b, " %s (%d) |", k.Kind, k.Questions)
	}
	fmt.Fprintf(&b, "\n| --- |%s\n", strings.Repeat(" ---: |", len(s.Kinds)))
	for _, method := range s.Methods {
		fmt.Fprintf(&b, "| %s |", method)
		for _, k := range s.Kinds {
			fmt.Fprintf(&b, " %.3f |", k.Means[method])
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\n%s against the others, question by question. A kind with less than %d questions is not judged.\n\n", s.Against, leastJudged)
	b.WriteString("| against | kind | questions | difference | 95 % | verdict |\n| --- | --- | ---: | ---: | ---: | --- |\n")
	for i := range s.Kinds[0].Differences {
		for _, k := range s.Kinds {
			d := k.Differences[i]
			fmt.Fprintf(&b, "| %s | %s | %d | %+.3f | %+.3f to %+.3f | %s |\n", d.Method, k.Kind, k.Questions, d.Mean, d.Low, d.High, d.Verdict)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func number(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// WriteText writes how far an exam has come, and what it waits for. It returns the error of w.
func (s *Status) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "histories: %d in %s/%s\n", len(s.Prefixes), s.Dir, historiesDir)
	waits := "questions, written as questions/README.md asks, or prompts made elsewhere"
	if s.Readers > 0 {
		fmt.Fprintf(&b, "prompts:   for %d readers in %s/%s\n", s.Readers, s.Dir, readersDir)
		waits = "answers, written as readers/README.md asks"
	}
	if s.Graders {
		fmt.Fprintf(&b, "sheets:    for graders in %s/%s\n", s.Dir, gradersDir)
		waits = "grades, given as graders/README.md asks"
	}
	if s.Done {
		fmt.Fprintf(&b, "grades:    all there; 'ctxfs eval exam score %s' adds them up\n", s.Dir)
	} else {
		fmt.Fprintf(&b, "missing:   %s\n", waits)
	}
	for _, file := range s.Missing {
		fmt.Fprintf(&b, "  %s\n", file)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
