package appendtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

const user1 = `{"role":"user","content":"one"}`

// Each case is a program that appends as programs of its kind do: with buffers,
// duplicated descriptors, subshells and forks that flush what others wrote.
var programs = []struct {
	name, with, script string
	want               string // messages.jsonl afterwards
	out                string // what it prints
	sorted             bool   // the order of the records is free
}{
	{name: "echo", with: "bash", script: `echo '{"role":"user","content":"one"}' >> messages.jsonl`, want: user1 + "\n"},
	{name: "printf without newline", with: "bash", script: `printf '{"role":"user","content":"one"}' >> messages.jsonl`, want: user1 + "\n"},
	{name: "here document", with: "bash", script: "cat >> messages.jsonl <<'X'\n" + rec1 + rec2 + rec3 + "X\n", want: rec1 + rec2 + rec3},
	{name: "one descriptor, a record in pieces", with: "bash",
		script: `exec 3>>messages.jsonl; printf '{"role":' >&3; printf '"user","content":' >&3; printf '"one"}\n' >&3`, want: user1 + "\n"},
	{name: "one descriptor, pieces, closed before the newline", with: "bash",
		script: `exec 3>>messages.jsonl; printf '{"role":' >&3; printf '"user","content":"one"}' >&3; exec 3>&-; echo $?`, want: user1 + "\n", out: "0\n"},
	{name: "one descriptor, newline after a flush", with: "bash",
		script: `exec 3>>messages.jsonl; printf '{"role":"user","content":"one"}' >&3; echo >&3; echo '{"role":"user","content":"two"}' >&3`,
		want:   user1 + "\n" + `{"role":"user","content":"two"}` + "\n"},
	{name: "a subshell that inherits a half record", with: "bash",
		script: `exec 3>>messages.jsonl; printf '{"role":' >&3; (:); (exit 0); printf '"user","content":"one"}\n' >&3`, want: user1 + "\n"},
	{name: "a subshell that completes a record", with: "bash",
		script: `exec 3>>messages.jsonl; printf '{"role":"user",' >&3; (printf '"content":"one"}\n' >&3); echo '{"role":"user","content":"two"}' >&3`,
		want:   user1 + "\n" + `{"role":"user","content":"two"}` + "\n"},
	{name: "a program that inherits a half record", with: "bash",
		script: `exec 3>>messages.jsonl; printf '{"role":' >&3; /bin/true; /bin/cat /dev/null; printf '"user","content":"one"}\n' >&3`, want: user1 + "\n"},
	{name: "a group", with: "bash", script: `{ printf '{"role":'; printf '"user",'; echo '"content":"one"}'; } >> messages.jsonl`, want: user1 + "\n"},
	{name: "a pipe into tee -a", with: "bash", script: `printf '%s\n' '{"role":"user","content":"one"}' | tee -a messages.jsonl`, want: user1 + "\n", out: user1 + "\n"},
	{name: "background jobs", with: "bash", sorted: true,
		script: `for i in 1 2 3 4 5; do for j in 1 2 3 4; do echo '{"role":"user","content":"'$i$j'"}' >> messages.jsonl; done & done; wait`,
		want: func() (all string) {
			for i := range 5 {
				for j := range 4 {
					all += fmt.Sprintf(`{"role":"user","content":"%d%d"}`+"\n", i+1, j+1)
				}
			}
			return all
		}()},
	{name: "redirection without append to an empty log", with: "bash", script: `echo '{"role":"user","content":"one"}' > messages.jsonl`, want: user1 + "\n"},
	{name: "dd", with: "bash", script: `printf '{"role":"user","content":"one"}\n' | dd of=messages.jsonl oflag=append conv=notrunc bs=7 status=none iflag=fullblock`, want: user1 + "\n"},
	{name: "jq", with: "bash", script: `jq -cn '{role:"user",content:"one"}' >> messages.jsonl`, want: user1 + "\n"},
	{name: "a half record says why", with: "bash",
		script: `printf '{"role":' >> messages.jsonl; echo $?; jq -r .errno context/errors.jsonl | head -1`, want: "", out: "0\nEINVAL\n"},

	{name: "text file, line by line", with: "python3", script: `
with open("messages.jsonl", "a") as f:
    f.write('{"role":"user","content":"one"}\n')
    f.flush()
    f.write('{"role":"assistant","content":"two","tool_calls":[]}\n')
`, want: rec1 + rec2},
	{name: "buffered beyond the buffer", with: "python3", script: `
import json
with open("messages.jsonl", "a") as f:
    for i in range(500):
        f.write(json.dumps({"role": "user", "content": "x" * 97 + str(i)}) + "\n")
`, want: func() (all string) {
		for i := range 500 {
			all += `{"role": "user", "content": "` + strings.Repeat("x", 97) + fmt.Sprint(i) + "\"}\n"
		}
		return all
	}()},
	{name: "unbuffered pieces", with: "python3", script: `
with open("messages.jsonl", "ab", buffering=0) as f:
    for piece in (b'{"role":', b'"user",', b'"content":"one"}', b'\n'):
        assert f.write(piece) == len(piece)
`, want: user1 + "\n"},
	{name: "a forked child exits with a half record staged", with: "python3", script: `
import os
f = open("messages.jsonl", "ab", buffering=0)
f.write(b'{"role":"user",')
if os.fork() == 0:
    os._exit(0)
os.wait()
f.write(b'"content":"one"}\n')
f.close()
`, want: user1 + "\n"},
	{name: "a forked child exits with a whole record without newline staged", with: "python3", script: `
import os
f = open("messages.jsonl", "ab", buffering=0)
f.write(b'{"role":"user","content":"one"}')
if os.fork() == 0:
    os._exit(0)
os.wait()
f.write(b'\n{"role":"user","content":"two"}\n')
f.close()
`, want: user1 + "\n" + `{"role":"user","content":"two"}` + "\n"},
	{name: "children share one descriptor", with: "python3", sorted: true, script: `
import os
f = open("messages.jsonl", "ab", buffering=0)
for i in range(4):
    if os.fork() == 0:
        for j in range(5):
            f.write(b'{"role":"user","content":"%d%d"}\n' % (i, j))
        os._exit(0)
for i in range(4):
    os.wait()
`, want: func() (all string) {
		for i := range 4 {
			for j := range 5 {
				all += fmt.Sprintf(`{"role":"user","content":"%d%d"}`+"\n", i, j)
			}
		}
		return all
	}()},
	{name: "subprocess with the log as its stdout", with: "python3", script: `
import subprocess
with open("messages.jsonl", "a") as f:
    subprocess.run(["printf", '{"role":"user","content":"one"}'], stdout=f, check=True)
    subprocess.run(["printf", '\n{"role":"user","content":"two"}\n'], stdout=f, check=True)
`, want: user1 + "\n" + `{"role":"user","content":"two"}` + "\n"},
	{name: "writelines and fsync", with: "python3", script: `
import os
with open("messages.jsonl", "a") as f:
    f.writelines(['{"role":"user","content":"one"}\n', '{"role":"user","content":"two"}\n'])
    f.flush(); os.fsync(f.fileno())
`, want: user1 + "\n" + `{"role":"user","content":"two"}` + "\n"},
	{name: "errno of a refusal", with: "python3", script: `
import errno
f = open("messages.jsonl", "ab", buffering=0)
try:
    f.write(b"nope\n")
except OSError as e:
    print(errno.errorcode[e.errno])
try:
    open("messages.jsonl", "w")
except OSError as e:
    print(errno.errorcode[e.errno])
f.write(b'{"role":"user","content":"one"}\n')
try:
    open("messages.jsonl", "w")
except OSError as e:
    print(errno.errorcode[e.errno])
`, want: user1 + "\n", out: "EINVAL\nEPERM\n"},

	{name: "fs.appendFile", with: "node", script: `
const fs = require('fs');
fs.appendFile('messages.jsonl', '{"role":"user","content":"one"}\n', (e) => {
  if (e) throw e;
  fs.appendFileSync('messages.jsonl', '{"role":"user","content":"two"}\n');
});
`, want: user1 + "\n" + `{"role":"user","content":"two"}` + "\n"},
	{name: "fs.promises.appendFile, one after the other", with: "node", script: `
const fs = require('fs/promises');
(async () => {
  for (let i = 0; i < 20; i++) await fs.appendFile('messages.jsonl', JSON.stringify({role: 'user', content: 'm' + i}) + '\n');
})();
`, want: func() (all string) {
		for i := range 20 {
			all += fmt.Sprintf(`{"role":"user","content":"m%d"}`+"\n", i)
		}
		return all
	}()},
	{name: "createWriteStream", with: "node", script: `
const fs = require('fs');
const out = fs.createWriteStream('messages.jsonl', {flags: 'a'});
for (let i = 0; i < 200; i++) {
  const r = JSON.stringify({role: 'user', content: 'x'.repeat(1000) + i}) + '\n';
  out.write(r.slice(0, 501)); out.write(r.slice(501));
}
out.end();
`, want: func() (all string) {
		for i := range 200 {
			all += `{"role":"user","content":"` + strings.Repeat("x", 1000) + fmt.Sprint(i) + "\"}\n"
		}
		return all
	}()},
	{name: "a child process while a half record is staged", with: "node", script: `
const fs = require('fs'), cp = require('child_process');
const fd = fs.openSync('messages.jsonl', 'a');
fs.writeSync(fd, '{"role":"user",');
cp.execFileSync('/bin/true');
cp.spawnSync('/bin/cat', ['/dev/null'], {stdio: ['ignore', fd, 'inherit']});
fs.writeSync(fd, '"content":"one"}\n');
fs.closeSync(fd);
`, want: user1 + "\n"},
	{name: "a worker thread beside the main one", with: "node", sorted: true, script: `
const fs = require('fs'), {Worker} = require('worker_threads');
const code = "const fs=require('fs');for(let i=0;i<20;i++)fs.appendFileSync('messages.jsonl','{\"role\":\"user\",\"content\":\"w'+i+'\"}\\n')";
const w = new Worker(code, {eval: true});
for (let i = 0; i < 20; i++) fs.appendFileSync('messages.jsonl', '{"role":"user","content":"m' + i + '"}\n');
`, want: func() (all string) {
		for i := range 20 {
			all += fmt.Sprintf(`{"role":"user","content":"m%d"}`+"\n"+`{"role":"user","content":"w%d"}`+"\n", i, i)
		}
		return all
	}()},
	{name: "errno of a refusal", with: "node", script: `
const fs = require('fs');
fs.appendFile('messages.jsonl', 'nope\n', (e) => {
  console.log(e.code);
  fs.appendFileSync('messages.jsonl', '{"role":"user","content":"one"}\n');
  for (const f of [() => fs.truncateSync('messages.jsonl', 0), () => fs.unlinkSync('messages.jsonl'), () => fs.writeFileSync('messages.jsonl', 'x')])
    try { f(); console.log('done') } catch (e) { console.log(e.code) }
});
`, want: user1 + "\n", out: "EINVAL\nEPERM\nEPERM\nEPERM\n"},
}

func TestProgramsAppend(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	t.Run("with", func(t *testing.T) {
		for _, p := range programs {
			t.Run(p.with+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				harness.Need(t, p.with)
				flag := map[string]string{"bash": "-c", "python3": "-c", "node": "-e"}[p.with]
				s := m.NewSession(t)
				if out := s.Run(p.with, flag, p.script).OK(); out != p.out {
					t.Errorf("printed %q, want %q", out, p.out)
				}
				got, want := s.Read(messages), p.want
				if p.sorted {
					g, w := harness.Lines(t, got), harness.Lines(t, want)
					slices.Sort(g)
					slices.Sort(w)
					got, want = strings.Join(g, "\n"), strings.Join(w, "\n")
				}
				if got != want {
					t.Errorf("messages.jsonl holds %s, want %s", short(got), short(want))
				}
			})
		}
	})
}
