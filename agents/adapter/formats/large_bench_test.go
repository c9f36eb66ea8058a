package formats_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
)

// largeCodex is a rollout of at least that many bytes: prompts, and turns of
// thinking, two calls and what came of them, spaced as Python writes JSON.
func largeCodex(size int) []byte {
	var b bytes.Buffer
	line := func(kind, payload string) {
		fmt.Fprintf(&b, `{"timestamp": "2025-11-20T09:00:01.007Z", "type": %q, "payload": %s}`+"\n", kind, payload)
	}
	line("session_meta", `{"id": "019a9f10-4a1e-7c33-9d5e-2b8c0f6d7e11", "cwd": "/home/ana/shop", "originator": "codex_cli_rs", "cli_version": "0.63.0"}`)
	for n := 0; b.Len() < size; n++ {
		line("response_item", fmt.Sprintf(`{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Part %d: why is the sum \"off\"?"}]}`, n))
		line("response_item", `{"type": "reasoning", "summary": [{"type": "summary_text", "text": "**Looking**"}], "content": null, "encrypted_content": "`+strings.Repeat("gAAAAABp", 60)+`"}`)
		for call := range 2 {
			line("response_item", fmt.Sprintf(`{"type": "function_call", "name": "shell", "arguments": "{\"command\":[\"cat\",\"%d.py\"]}", "call_id": "call_%d_%d"}`, n, n, call))
		}
		for call := range 2 {
			line("response_item", fmt.Sprintf(`{"type": "function_call_output", "call_id": "call_%d_%d", "output": "%s"}`, n, call,
				strings.Repeat(fmt.Sprintf(`     %d\tdef total(lines):\n\t\treturn \"x\"\n`, n), 60)))
		}
		line("event_msg", fmt.Sprintf(`{"type": "token_count", "info": {"total_token_usage": {"input_tokens": %d, "output_tokens": 12}, "last_token_usage": {"input_tokens": 2946, "output_tokens": 12}}}`, 2946*n))
	}
	return b.Bytes()
}

// largeOpenAI is a request of at least that many bytes.
func largeOpenAI(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"model": "gpt-5.1", "messages": [{"role": "system", "content": "Be brief."}`)
	for n := 0; b.Len() < size; n++ {
		fmt.Fprintf(&b, ",\n"+` {"role": "user", "content": "Part %d: why is the sum \"off\"?"}`, n)
		fmt.Fprintf(&b, ",\n"+` {"role": "assistant", "content": null, "tool_calls": [{"id": "call_%d", "type": "function", "function": {"name": "cat", "arguments": "{\"path\":\"%d.py\"}"}}]}`, n, n)
		fmt.Fprintf(&b, ",\n"+` {"role": "tool", "tool_call_id": "call_%d", "content": "%s"}`, n, strings.Repeat(fmt.Sprintf(`     %d\tdef total(lines):\n\t\treturn \"x\"\n`, n), 60))
	}
	b.WriteString("]}\n")
	return b.Bytes()
}

var large = []struct {
	format string
	make   func(size int) []byte
}{{"claude-code", largeClaude}, {"codex", largeCodex}, {"openai", largeOpenAI}}

// BenchmarkImport40MB reads a transcript, and puts its records in place as an import does.
func BenchmarkImport40MB(b *testing.B) {
	for _, l := range large {
		b.Run(l.format, func(b *testing.B) {
			f, _ := formats.Lookup(l.format)
			data := l.make(40 << 20)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				var s adaptertest.Session
				if records, losses := s.Import(b, f, "", data); len(records) == 0 || len(losses) > 0 {
					b.Fatal(len(records), losses)
				}
			}
		})
	}
}

// BenchmarkExport40MB writes it again.
func BenchmarkExport40MB(b *testing.B) {
	for _, l := range large {
		b.Run(l.format, func(b *testing.B) {
			f, _ := formats.Lookup(l.format)
			data := l.make(40 << 20)
			var s adaptertest.Session
			s.Import(b, f, "", data)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				var logs [2][]adapter.Record
				for _, r := range s.Records {
					log := &logs[0]
					if r.Event {
						log = &logs[1]
					}
					*log = append(*log, r)
				}
				src := &adapter.Source{Name: "s1", Records: f.Arrange(logs[:]...), Loss: func(l adapter.Loss) { b.Fatal(l) }}
				if err := f.Export(src, io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
