package result_test

import (
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/compress/result"
)

func ExampleShorten() {
	output := strings.Repeat("=== RUN   TestAdd\n--- PASS: TestAdd (0.00s)\n", 60) +
		"=== RUN   TestRefresh\n    token_test.go:41: got 401, want 200\n--- FAIL: TestRefresh (0.01s)\nFAIL\nexit status 1\n"
	call := result.Hint{Tool: "bash", Args: `{"command":"go test -v ./..."}`}
	kind := result.Recognise(output, call)
	short, _, _ := result.Shorten(output, kind, call, result.Limit{Tokens: 120}, "context/line/97.txt")
	fmt.Println(kind)
	fmt.Println(short)
	// Output:
	// log
	// === RUN   TestAdd
	// [and 59 more like it]
	// --- PASS: TestAdd (0.00s)
	// [and 59 more like it]
	// …
	// === RUN   TestRefresh
	//     token_test.go:41: got 401, want 200
	// --- FAIL: TestRefresh (0.01s)
	// FAIL
	// exit status 1
	// [118 lines, 2596 bytes left out, all of it in context/line/97.txt]
}
