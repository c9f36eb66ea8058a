package ledger

import (
	"strings"
	"testing"
)

// cases are calls, and of what files the ledger must know after them that they are there or not ("a"), or
// what stands in them too ("a!"), when the exit status of each call is known.
var cases = []struct {
	steps []step
	knows string
}{
	{[]step{write("a.txt", "one\n")}, "a.txt!"},
	{[]step{write("a.txt", "one\n"), write("a.txt", "two\n")}, "a.txt!"},
	{[]step{write("a.txt", "one\ntwo\n"), edit("a.txt", "two", "three")}, "a.txt!"},
	{[]step{write("a.txt", "one\n"), edit("a.txt", "nine", "three")}, "a.txt!"},
	{[]step{write("d/e/a.txt", "x"), sh("rm -r d")}, "d d/e/a.txt"},
	{[]step{write("a.txt", "x"), sh("rm a.txt")}, "a.txt"},
	{[]step{write("a.txt", "x"), sh("rm b.txt")}, "a.txt!"},
	{[]step{write("a.txt", "x"), sh("rm -f b.txt a.txt")}, "a.txt b.txt"},
	{[]step{write("a.txt", "x"), sh("rm b.txt a.txt")}, ""},
	{[]step{write("a.txt", "x"), sh("mv a.txt b.txt")}, "a.txt b.txt!"},
	{[]step{write("a.txt", "x"), sh("mv c.txt b.txt")}, "a.txt!"},
	{[]step{write("a.txt", "x"), sh("mkdir d && mv a.txt d")}, "a.txt d/a.txt!"},
	{[]step{write("a.txt", "x"), sh("mkdir d && mv a.txt d/"), sh("mv d e")}, "a.txt d/a.txt"},
	{[]step{write("d/a.txt", "x"), write("e/b.txt", "y"), sh("mv d e")}, "d/a.txt e/d/a.txt! e/b.txt!"},
	{[]step{write("d/a.txt", "x"), sh("mv d d.old")}, "d/a.txt d.old/a.txt!"},
	{[]step{write("a.txt", "x"), write("b.txt", "y"), sh("mv a.txt b.txt")}, "a.txt b.txt!"},
	{[]step{write("a.txt", "x"), sh("cp a.txt a.txt.bak"), write("a.txt", "y")}, "a.txt! a.txt.bak!"},
	{[]step{write("a", "x"), sh("cp a b")}, "a!"},
	{[]step{write("a.py", "x"), sh("mkdir -p old; cp a.py old"), write("a.py", "y")}, "a.py! old/a.py!"},
	{[]step{write("d/a.txt", "x"), write("d/s/b.txt", "y"), sh("mkdir e; cp -r d e/")}, "e/d/a.txt! e/d/s/b.txt! d/a.txt!"},
	{[]step{write("d/a.txt", "x"), sh("cp -r d d.bak"), sh("rm -rf d")}, "d.bak/a.txt! d/a.txt"},
	{[]step{write("d/a.txt", "x"), write("f/a.txt", "z"), write("f/q.txt", "z"), sh("cp -r d/. f")}, "d/a.txt!"},
	{[]step{write("a.txt", "x"), sh("cp nosuch a.txt")}, "a.txt!"},
	{[]step{sh("cat > t.sh <<'EOF'\necho $x \\$y\n\tz\nEOF")}, "t.sh!"},
	{[]step{sh("cat > t.sh <<EOF\necho \\$x \\\\ a\nEOF")}, "t.sh!"},
	{[]step{sh("cat > t.sh <<EOF\necho $HOME\nEOF")}, "t.sh"},
	{[]step{sh("cat <<-EOF > t.sh\n\techo a\n\t\tb\n\tEOF\ncat t.sh")}, "t.sh!"},
	{[]step{sh("cat <<EOF | tee t.conf\na=1\nEOF")}, "t.conf!"},
	{[]step{sh("cat <<EOF | tee t.conf > /dev/null\na=1\nEOF")}, "t.conf!"},
	{[]step{sh("echo one > a; echo two >> a")}, "a!"},
	{[]step{sh("echo one > a"), sh("printf '%s\\n' two three >> a")}, "a!"},
	{[]step{sh("echo -n one > a; echo 'x  y' \"z\" >> a")}, "a!"},
	{[]step{sh("echo 'a\\nb' > a"), sh("echo $RANDOM > b")}, "a b"},
	{[]step{sh("{ echo a; echo b; } > f; ( echo c ) >> f")}, "f!"},
	{[]step{sh("> f"), sh(": > g"), sh("touch h")}, "f! g! h"},
	{[]step{write("a.txt", "x"), sh("touch a.txt")}, "a.txt!"},
	{[]step{write("a.txt", "x"), sh("rm a.txt; touch a.txt")}, "a.txt!"},
	{[]step{write("a.txt", "x"), sh("true || rm a.txt")}, "a.txt!"},
	{[]step{write("a.txt", "x"), sh("false && rm a.txt; echo y")}, "a.txt!"},
	{[]step{write("a.txt", "x"), sh("test -f b.txt && rm a.txt")}, ""},
	{[]step{write("a.txt", "x"), sh("test -f a.txt && rm a.txt")}, "a.txt"},
	{[]step{write("a.txt", "x"), sh("grep -q y a.txt || rm a.txt")}, ""},
	{[]step{write("a.txt", "x"), sh("if [ -f q ]; then rm a.txt; else echo no; fi")}, ""},
	{[]step{write("a.txt", "x"), sh("set -e; ls nosuch; rm a.txt")}, ""},
	{[]step{write("a.txt", "x"), sh("set -e; ls; rm a.txt")}, "a.txt"},
	{[]step{write("a.txt", "x"), sh("exit 0; rm a.txt")}, "a.txt!"},
	{[]step{write("a.txt", "x"), sh("ls nosuch || exit 1; rm a.txt")}, ""},
	{[]step{write("a.txt", "x"), sh("(cd /; exit 3); rm a.txt")}, "a.txt"},
	{[]step{write("d/a.txt", "x"), sh("cd d && rm a.txt")}, "d/a.txt"},
	{[]step{write("d/a.txt", "x"), write("a.txt", "y"), sh("(cd d); rm a.txt")}, "a.txt d/a.txt!"},
	{[]step{write("d/a.txt", "x"), write("a.txt", "y"), sh("cd nosuch; rm a.txt")}, "d/a.txt!"},
	{[]step{write("d/a.txt", "x"), write("a.txt", "y"), keep("cd d"), keep("rm a.txt")}, "a.txt! d/a.txt"},
	{[]step{write("d/a.txt", "x"), write("a.txt", "y"), keep("cd d && ls"), keep("cd .. && rm a.txt")}, "a.txt d/a.txt!"},
	{[]step{write("d/a.txt", "x"), write("a.txt", "y"), sh("cd d"), sh("rm a.txt")}, "a.txt d/a.txt!"},
	{[]step{write("a.log", "x"), write("b.log", "y"), write("c.txt", "z"), sh("rm *.log")}, "a.log b.log c.txt!"},
	{[]step{write("a.log", "x"), write(".b.log", "y"), sh("rm *")}, "a.log .b.log!"},
	{[]step{write("a1", "x"), write("a2", "y"), write("b1", "z"), sh("rm a[12]")}, "b1!"},
	{[]step{write("a.log", "x"), write("d/b.log", "y"), sh("mv *.log d/")}, "a.log d/a.log! d/b.log!"},
	{[]step{write("a.txt", "x"), write("b.txt", "y"), sh("rm {a,c}.txt 2>/dev/null; true")}, "b.txt!"},
	{[]step{write("a.txt", "x"), write("b.txt", "y"), sh("for f in a b; do mv $f.txt $f.md; done")}, "a.txt a.md! b.md!"},
	{[]step{write("a.txt", "x"), sh("for f in $(ls); do mv $f $f.md; done")}, ""},
	{[]step{write("a.txt", "x"), sh("D=a; mv $D.txt ${D}.md; echo $D > c")}, "a.txt c!"},
	{[]step{write("a.txt", "x"), sh("F=$(ls); rm $F")}, ""},
	{[]step{write("a.txt", "one\n"), sh("sed -i 's/one/two/' a.txt")}, "a.txt"},
	{[]step{write("a.txt", "one\n"), sh("sed 's/one/two/' a.txt")}, "a.txt!"},
	{[]step{write("a.txt", "one\n"), sh("perl -pi -e 's/one/two/' a.txt")}, "a.txt"},
	{[]step{write("a.txt", "one\n"), sh("sort a.txt > a.txt; cat a.txt > b.txt")}, "a.txt"},
	{[]step{write("a.txt", "one\n"), sh("cat a.txt a.txt > b.txt")}, "a.txt! b.txt!"},
	{[]step{write("a.txt", "one\n"), sh("cat a.txt | tee a.txt")}, ""},
	{[]step{write("a.txt", "one\n"), sh("ln -s a.txt l; echo two > l")}, ""},
	{[]step{write("a.txt", "one\n"), sh("ln a.txt l; echo two > l")}, "l"},
	{[]step{write("d/a.txt", "one\n"), sh("ln -s d l && rm l/a.txt")}, ""},
	{[]step{write("a.txt", "one\n"), sh("ln -s a.txt l && rm l")}, "l"},
	{[]step{write("a.txt", "one\n"), sh("(sleep 0.05; rm a.txt) & echo hi"), sh("sleep 0.2; ls")}, ""},
	{[]step{write("a.txt", "one\n"), sh("python3 -c 'open(\"a.txt\",\"w\").write(\"two\")'")}, ""},
	{[]step{write("a.txt", "one\n"), sh("bash -c 'echo two > a.txt; rm -f b'")}, "a.txt! b"},
	{[]step{write("s.sh", "rm a.txt\n"), write("a.txt", "one\n"), sh("bash s.sh")}, ""},
	{[]step{write("a.txt", "one\n"), sh("f() { rm a.txt; }; f")}, ""},
	{[]step{write("a.txt", "one\n"), sh("rm() { echo no; }; rm a.txt")}, ""},
	{[]step{write("a.txt", "one\n"), sh("find . -name '*.txt' -delete")}, ""},
	{[]step{write("a.txt", "one\n"), sh("ls | xargs rm")}, ""},
	{[]step{write("a.txt", "one\n"), sh("find . -name '*.txt' -exec rm {} \\;")}, ""},
	{[]step{write("a.txt", "one\n"), sh("git init -q . && git add a.txt && git -c user.name=a -c user.email=a@b commit -qm x"), sh("git mv a.txt b.txt")}, "a.txt b.txt!"},
	{[]step{write("a.txt", "one\n"), sh("git init -q . && git add a.txt && git -c user.name=a -c user.email=a@b commit -qm x"), sh("git rm -q a.txt")}, "a.txt"},
	{[]step{write("a.txt", "one\n"), sh("git init -q . && git add a.txt && git -c user.name=a -c user.email=a@b commit -qm x"), write("a.txt", "two\n"), sh("git checkout -- a.txt")}, ""},
	{[]step{write("a.txt", "one\n"), sh("git init -q . && git add a.txt && git -c user.name=a -c user.email=a@b commit -qm x"), write("a.txt", "two\n"), sh("git -c user.name=a -c user.email=a@b stash")}, ""},
	{[]step{write("a.txt", "one\n"), sh("patch -p0 <<'EOF'\n--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\nEOF")}, ""},
	{[]step{write("a.txt", "x"), sh("rmdir a.txt; mkdir -p p/q && touch p/q/r && rmdir p")}, ""},
	{[]step{write("a.txt", "x"), sh("echo hi > nosuch/b.txt; rm a.txt")}, "a.txt"},
	{[]step{write("a.txt", "x"), sh("rm a.txt > nosuch/log")}, ""},
	{[]step{write("a.txt", "x"), sh("rm a.txt 'unclosed")}, ""},
	{[]step{write("a.txt", "x"), sh("mv -n a.txt b.txt"), sh("cp -u b.txt c.txt")}, ""},
	{[]step{write("a.txt", "x\ny\n"), sh("truncate -s 0 a.txt"), sh("truncate -s 3 b.txt")}, "a.txt!"},
	{[]step{write("a.txt", "x\n"), sh("exec > log; echo hi; rm a.txt")}, ""},
	{[]step{write("a.txt", "x\n"), sh("trap 'rm -f a.txt' EXIT; cat a.txt")}, ""},
	{[]step{write("a.txt", "x\n"), sh("while read f; do rm $f; done < <(ls)")}, ""},
	{[]step{write("a.txt", "x\n"), sh("case a in a) rm a.txt;; esac")}, ""},
	{[]step{write("a.txt", "x\n"), sh("x=$(rm a.txt)")}, "a.txt"},
	{[]step{sh("echo hi > a.txt"), sh("cat a.txt"), read("a.txt")}, "a.txt!"},
	{[]step{sh("mkdir d; echo $$ > d/a.txt"), sh("cd d && cat a.txt"), read("d/a.txt")}, "d/a.txt!"},
	{[]step{sh("echo a > x; cp x y.md; rm x; mv y.md x")}, "x! y.md"},
	{[]step{sh("mkdir -p d/e; echo a > d/e/f; cd d; mv e g; cd g; echo b >> f")}, "d/e/f"},
	{[]step{write("x.txt", "a"), sh("rm -i x.txt < /dev/null")}, ""},
	{[]step{write("x.txt", "a"), sh("timeout 0.01 sleep 1; timeout 5 rm x.txt")}, "x.txt"},
	{[]step{write("x.txt", "a"), sh("false | cat && echo b > x.txt")}, "x.txt!"},
	{[]step{write("x.txt", "a"), sh("set -o pipefail; false | cat && echo b > x.txt")}, ""},
	{[]step{write("x.txt", "a"), sh("! true && rm x.txt; ! false && touch y.txt")}, "x.txt!"},
	{[]step{write("x.txt", "a"), sh("echo b 2>&1 > x.txt; echo c > y.txt 2> z.txt; ls nosuch &> w.txt")}, "x.txt! y.txt! z.txt w.txt"},
	{[]step{write("x.txt", "a"), sh("echo b > x.txt > y.txt")}, "x.txt! y.txt!"},
	{[]step{write("x.txt", "a"), sh("cat < x.txt > y.txt; cat <<< hi > z.txt")}, "y.txt! z.txt!"},
	{[]step{write("x.txt", "a"), sh("eval 'rm x.txt'; env A=b touch q")}, "x.txt"},
}

func TestAgainstAShell(t *testing.T) {
	if len(cases) < 60 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		dir := t.TempDir()
		list := play(t, dir, c.steps)
		for way := range ways {
			s := told(list, way)
			j := judge(t, dir, s)
			for _, w := range j.wrong {
				t.Errorf("%v, way %d: %s", c.steps, way, w)
			}
			if way != inField {
				continue
			}
			for _, name := range strings.Fields(c.knows) {
				name, text := strings.CutSuffix(name, "!")
				f, ok := s.File(name)
				if !ok || !s.Sure(f) {
					t.Errorf("%v: nothing is known of %s: %+v", c.steps, name, f)
				} else if text && !s.SureText(f) {
					t.Errorf("%v: the text of %s is not known: %+v", c.steps, name, f)
				}
			}
		}
	}
}
