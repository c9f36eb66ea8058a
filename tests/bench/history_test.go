package bench

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// vocabulary is what the made-up histories speak of.
var vocabulary = strings.Fields(`the a of to in and is that for it with on this as are be or by from an not
	retry refresh token config parse request response handler error timeout context client server cache index commit
	append journal reader writer buffer offset length boundary prefix budget render pack session agent workspace branch
	merge rebase failing passes test suite expected actual panic goroutine mutex channel deadline cancel backoff jitter
	auth/refresh.go config/load.go pkg/store/index.go internal/queue/worker.go cmd/serve/main.go README.md go.mod
	RetryMax parseConfig newClient TestRefreshExpired ErrTimeout loadIndex writeBatch 0x7fff2a 404 502 1024 65536 v1.12.3`)

// text makes about size bytes of lines, the same for the same seed.
func text(seed, size int) string {
	rnd := rand.New(rand.NewPCG(uint64(seed), 7))
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(vocabulary[rnd.IntN(len(vocabulary))])
		if rnd.IntN(12) == 0 {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// kibRecord is a message of exactly 1 KiB, newline included.
func kibRecord(i int) []byte {
	const frame = len(`{"role":"user","content":""}` + "\n")
	body := strings.ReplaceAll(fmt.Sprintf("%06d %s", i, text(i, 1024)), "\n", " ")
	return []byte(`{"role":"user","content":"` + body[:1024-frame] + "\"}\n")
}

// turn is record i of a coding session that goes on for ever: a request, then
// calls of tools with results of very different lengths, 1 kB on average.
func turn(i int) []byte {
	type object = map[string]any
	var m object
	switch k := i % 16; {
	case k == 0:
		m = object{"role": "user", "content": fmt.Sprintf("Request %d: %s", i/16, text(i, 300))}
	case k == 15:
		m = object{"role": "assistant", "content": "Done. " + text(i, 500)}
	case k%2 == 1:
		arguments, _ := json.Marshal(object{"path": fmt.Sprintf("src/module%d/file%d.go", i%37, i%101), "query": text(i, 60)})
		m = object{"role": "assistant", "content": text(i, 150), "tool_calls": []object{{"id": fmt.Sprintf("call_%d", i),
			"type": "function", "function": object{"name": []string{"read_file", "search", "run_tests"}[i%3], "arguments": string(arguments)}}}}
	default:
		size := 600 + i*7919%2000
		if i%160 == 2 {
			size = 9000
		}
		m = object{"role": "tool", "tool_call_id": fmt.Sprintf("call_%d", i-1), "content": text(i, size)}
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}

// short is a record of about 100 bytes, for histories that are very long.
func short(i int) []byte {
	const step = "read the file, changed the handler and ran the tests"
	if i%16 == 0 {
		return fmt.Appendf(nil, `{"role":"user","content":"Request %d: look at job %x"}`+"\n", i/16, i*2654435761)
	}
	return fmt.Appendf(nil, `{"role":"assistant","content":"%d: %s %x"}`+"\n", i, step, i*2654435761)
}

// dense is a record of which each byte is more tokens than in any prose, so that what it takes is estimated too low.
func dense(i int) []byte {
	rnd := rand.New(rand.NewPCG(uint64(i), 11))
	var b strings.Builder
	for range 1500 {
		b.WriteRune(rune(0x3400 + rnd.IntN(0x1900))) // rare characters of CJK Extension A
	}
	return fmt.Appendf(nil, `{"role":"assistant","content":"%s"}`+"\n", b.String())
}

// grouped is record i of a run of groups: a record with many calls, and then their results, which are more together than a
// prompt can have.
func grouped(i int) []byte {
	const calls = 19
	type object = map[string]any
	id := func(k int) string { return fmt.Sprintf("group_%d_%d", i/(calls+1), k) }
	m := object{"role": "tool", "tool_call_id": id(i%(calls+1) - 1), "content": text(i, 14_000)}
	if i%(calls+1) == 0 {
		var list []object
		for k := range calls {
			list = append(list, object{"id": id(k), "type": "function", "function": object{"name": "read_file", "arguments": fmt.Sprintf(`{"path":"part%d.go"}`, k)}})
		}
		m = object{"role": "assistant", "content": "All parts at once.", "tool_calls": list}
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}
