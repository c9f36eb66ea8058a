package pack_test

import (
	"fmt"

	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/session/log"
)

// A pack of a history in memory by the built-in recipe, without any files.
func ExampleCompiler_Compile() {
	var log log.MemLog
	log.Append([]byte(`{"role":"user","content":"Why does the test fail?"}`))
	log.Append([]byte(`{"role":"assistant","content":"The clock is mocked, and nothing moves it."}`))
	var compiler pack.Compiler
	in := pack.Input{Session: "s1", Agent: "coder", Budget: 8000, Messages: &log, Head: log.Head()}
	build, err := compiler.Compile(in)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d tokens\n%s", build.Tokens, build.Markdown)
	// Output:
	// 32 tokens
	// # Context Block: conversation
	// ## 1 user
	// Why does the test fail?
	// ## 2 assistant
	// The clock is mocked, and nothing moves it.
}
