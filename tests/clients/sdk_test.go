package clients

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// sdkTypes are the types of what the official SDKs send, by the format of the pack that they are given.
var sdkTypes = map[string]string{
	"openai":    `Omit<import("openai/resources/chat/completions").ChatCompletionCreateParamsNonStreaming, "model">`,
	"responses": `Omit<import("openai/resources/responses/responses").ResponseCreateParamsNonStreaming, "model">`,
	"anthropic": `Omit<import("@anthropic-ai/sdk/resources/messages").MessageCreateParamsNonStreaming, "model" | "max_tokens">`,
	"genai":     `Omit<import("@google/genai").GenerateContentParameters, "model">`,
}

// The SDKs that programs are written with take the packs as they are: by their types, and so that all of it arrives.
func TestTheOfficialSDKsTakeThePacks(t *testing.T) {
	harness.Need(t, "node")
	harness.Need(t, "npm")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("sdk")); err != nil {
		t.Fatal(err)
	}
	inDir(t, dir, "npm", "ci", "--prefer-offline", "--loglevel=error")

	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.NewSession(t)
	s.Bash(`echo 'You are a careful coding agent.' > ../../system_prompt.md; echo 'Never push to main.' > context/pinned/rules.md
echo '[{"name":"read_file","description":"Read.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}]' > ../../tools.json`).OK()
	example := filepath.Join(harness.Root(), "examples/session")
	for _, log := range []string{"messages.jsonl", "events.jsonl"} {
		data, err := os.ReadFile(filepath.Join(example, log))
		if err != nil {
			t.Fatal(err)
		}
		s.Append(log, string(data))
	}
	// As Codex keeps what it thought, and the call of a freeform tool.
	s.Append("messages.jsonl", `{"role":"assistant","content":[{"type":"reasoning","id":"rs_1","summary":[],"content":null,"encrypted_content":"gAAA"}],"tool_calls":[{"id":"p1","type":"custom","custom":{"name":"apply_patch","input":"*** Begin Patch\n*** End Patch"}}]}
{"role":"tool","tool_call_id":"p1","content":"Done."}
`)
	sessions := []string{s.Dir}
	for _, file := range []string{
		"agents/adapter/formats/testdata/codex/rollout-2025-11-20T09-00-00-cart.jsonl",
		"agents/adapter/formats/testdata/claude-code/parallel-calls.jsonl", "agents/adapter/formats/testdata/openhands/shop.jsonl",
	} {
		name := fmt.Sprintf("t%d", len(sessions))
		m.CLI(t, "import", filepath.Join(harness.Root(), file), filepath.Join(s.AgentHome(), "session", name)).OK()
		sessions = append(sessions, filepath.Join(s.AgentHome(), "session", name))
	}

	send := []string{"node", "send.mjs"}
	check := []string{"node_modules/.bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", "--types", ""}
	for i, session := range sessions {
		packs := filepath.Join(dir, fmt.Sprint("s", i))
		if err := os.Mkdir(packs, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, format := range []string{"openai", "responses", "anthropic", "gemini", "genai"} {
			data, err := os.ReadFile(filepath.Join(session, "context", "pack."+format+".json"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(packs, "pack."+format+".json"), string(data))
			if of := sdkTypes[format]; of != "" {
				file := filepath.Join(packs, format+".ts")
				write(t, file, "export const pack: "+of+" = "+string(data)+";\n")
				check = append(check, file)
			}
		}
		send = append(send, packs)
	}
	inDir(t, dir, check...)
	if got, want := inDir(t, dir, send...), fmt.Sprintf("%d requests arrived whole\n", 4*len(sessions)); got != want {
		t.Errorf("%q, want %q", got, want)
	}

	// The types see what the SDK would leave out: the body for HTTP is none of its.
	data, err := os.ReadFile(filepath.Join(dir, "s0/pack.gemini.json"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "wrong.ts"), "export const pack: "+sdkTypes["genai"]+" = "+string(data)+";\n")
	wrong := exec.Command(check[0], append(check[1:len(check)-4*len(sessions):len(check)-4*len(sessions)], "wrong.ts")...)
	wrong.Dir = dir
	if out, err := wrong.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("systemInstruction")) {
		t.Errorf("the types of the SDK allow systemInstruction beside contents: %v\n%s", err, out)
	}
}

// inDir returns what a program prints that ends well.
func inDir(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(argv[:2], " "), err, out, stderr.String())
	}
	return string(out)
}

func write(t *testing.T, file, data string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
}
