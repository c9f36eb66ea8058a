package compress_test

import (
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

func ExampleHeadTail() {
	log := strings.Repeat("building a module\n", 200) + "done in 12 s\n"
	short, cut := compress.HeadTail(log, 40, "context/line/97.txt")
	fmt.Println(cut)
	fmt.Print(short)
	// Output:
	// true
	// building a module
	// building a module
	// [198 lines, 3564 bytes left out, all of it in context/line/97.txt]
	// done in 12 s
}

func ExampleFold() {
	output := "=== RUN TestRefresh\n    token_test.go:41: got 401, want 200\n--- FAIL: TestRefresh (0.01s)\nFAIL example.org/auth 0.02s\n"
	fmt.Println(compress.Fold(output, 24))
	// Output:
	// --- FAIL: TestRefresh (0.01s) | FAIL example.org/auth 0.02s
}

func ExampleParagraphs() {
	for _, p := range compress.Paragraphs("# Retry\n\nTry again:\n\n- twice\n- then fail\n\nNever more.\n") {
		fmt.Printf("lines %d-%d: %q\n", p.From, p.To, p.Text)
	}
	// Output:
	// lines 1-6: "# Retry\n\nTry again:\n\n- twice\n- then fail"
	// lines 8-8: "Never more."
}

func ExampleCorpus_Rank() {
	index := compress.NewIndex([]string{"how to refresh a token", "how to bake bread", "refreshToken retries"})
	corpus := compress.JoinIndexes(index)
	for _, hit := range corpus.Rank("token refreshes") {
		fmt.Println(hit.Doc)
	}
	// Output:
	// 0
	// 2
}

func ExampleLiftTimes() {
	still, lines := compress.LiftTimes("Current time: 2026-11-22T10:16:52Z\nThe deadline is 2026-12-01.\n")
	fmt.Printf("%s%q\n", still, lines)
	// Output:
	// Current time: [time: at the end of the prompt]
	// The deadline is 2026-12-01.
	// ["Current time: 2026-11-22T10:16:52Z"]
}
