package fs

import (
	"os"
	"testing"
)

func TestControlFilesAreCheckedAtTheCommit(t *testing.T) {
	m := mountStore(t)
	got := m.sh(os.Geteuid(), newSessionScript+`cd context
echo 32000 > budget; cat budget
: > budget; wc -c < budget
echo 9000 > budget
echo nine 2>/dev/null > budget || echo refused; cat budget
printf nine > budget; cat budget
echo 10 2>/dev/null > budget || echo too small; cat budget
python3 -c 'open("budget","w").write("8000"); print(open("budget").read())'
echo 'x' > new; mv new budget 2>/dev/null || echo refused; cat new budget
rm new; echo 7000 > new; mv new budget; cat budget; ls -A
grep -c . errors.jsonl`)
	m.expect(got, `32000
0
refused
9000
9000
too small
9000
8000
refused
x
80007000
at
budget
child
decisions.jsonl
dedup
errors.jsonl
facts.jsonl
gc.policy
gc.report
journal.jsonl
line
pack.anthropic.json
pack.gemini.json
pack.genai.json
pack.json
pack.md
pack.openai.json
pack.report.md
pack.responses.json
packs.jsonl
pinned
refs.jsonl
requests.md
search
search.recent
served
summaries
summary.md
summary.request
swap
todo.md
4`)
}

func TestEditorsWork(t *testing.T) {
	m := mountStore(t)
	got := m.sh(os.Geteuid(), newSessionScript+`cd context
echo 9000 > budget
sed -i s/9/8/ budget; cat budget
for how in auto yes no; do
  vim -es -u NONE -c "set backupcopy=$how" -c '%s/0/00/' -c wq budget && cat budget
  sed -i s/00/0/ budget
done
echo 1234567 > /tmp/b.$$; cp /tmp/b.$$ budget; cat budget; cp -a /tmp/b.$$ budget && stat -c %s budget
mv /tmp/b.$$ budget && cat budget
echo '- [ ] one' >> todo.md; echo '- [ ] two' >> todo.md; cat todo.md; rm todo.md; wc -c < todo.md
echo rule > pinned/a.md; echo more >> pinned/a.md; cat pinned/a.md; grep -c rule pack.md
touch pinned/.hidden pinned/x~; ls -A pinned; grep -c hidden pack.md`)
	m.expect(got, `8000
80000
80000
80000
1234567
8
1234567
- [ ] one
- [ ] two
0
rule
more
1
.hidden
a.md
x~
0`)
}

// A truncation and the close that follows it are one thing to whoever looks next.
func TestTruncatedAndClosedFileIsEmptyAtOnce(t *testing.T) {
	m := mountStore(t)
	got := m.sh(os.Geteuid(), newSessionScript+`cd context
for i in $(seq 50); do echo 9000 > budget; : > budget; cat budget; done | wc -c`)
	m.expect(got, "0")
}

func TestBuiltFileIsOneInodePerBuild(t *testing.T) {
	m := mountStore(t)
	got := m.sh(os.Geteuid(), newSessionScript+`cd context
a=$(stat -c %i pack.md); b=$(stat -c %i pack.md); [ $a = $b ] && echo same
exec 3<pack.md
echo '{"role":"user","content":"next"}' >> ../messages.jsonl
c=$(stat -c %i pack.md); [ $a != $c ] && echo other
cat <&3 | grep -c next
grep -c next pack.md
[ $(stat -c %s pack.md) = $(wc -c < pack.md) ] && echo size
rm pack.md && test -s pack.md && echo back
cat line/2 line/2.txt; ls line; cat line/3 line/02 line/.x 2>&1 | grep -c 'No such'
getfattr --only-values -n user.ctx.origin pack.md 2>/dev/null || python3 -c 'import os; print(os.getxattr("pack.md","user.ctx.origin").decode(), end="")'`)
	m.expect(got, `same
other
0
1
size
back
{"role":"user","content":"next"}
next
1.txt
2.txt
3
derived`)
}

// Tool events that no message speaks of stand in the pack, and each event can be read by its number.
func TestToolEvents(t *testing.T) {
	m := mountStore(t)
	got := m.sh(os.Geteuid(), newSessionScript+`
echo '{"type":"usage","n":1}' >> events.jsonl
cat context/pack.md > /dev/null
echo '{"type":"tool_call","id":"c1","name":"run","args":{"a":1}}' >> events.jsonl
grep -A1 '## e2' context/pack.md
echo '{"role":"assistant","content":"","tool_calls":[{"id":"c2","name":"twin","arguments":""}]}' >> messages.jsonl
echo '{"type":"tool_result","id":"c2","output":"twin"}' >> events.jsonl
echo '{"type":"tool_result","id":"c1","output":"done"}' >> events.jsonl
grep '^## ' context/pack.md
cd context/line
cat e1 e1.txt e2.txt e4 e4.txt; cat e5 e0 2>&1 | grep -c 'No such'`)
	m.expect(got, `## e2 tool_call
[call e2] run {"a":1}
## 1 user
## e2 tool_call
## 2 assistant
## e4 tool run [call e2]
{"type":"usage","n":1}
{"type":"usage","n":1}
run {"a":1}
{"type":"tool_result","id":"c1","output":"done"}
done
2`)
}
