package files_test

import (
	"testing"
)

// A file that is closed on one host is what an open on another one sees that begins after that.
func TestAnOpenSeesWhatWasClosedBefore(t *testing.T) {
	_, hosts := newCluster(t, "a", "b")
	a, b := hosts[0], hosts[1]
	for _, content := range []string{"one", "two", "three"} {
		a.ok("echo " + content + " > $M/note")
		b.expect("cat $M/note", content)
		b.ok("echo b-" + content + " >> $M/note")
		a.expect("tail -n 1 $M/note", "b-"+content)
	}
	for _, try := range []struct{ a, b, want string }{
		{"printf new > $M/other", "cat $M/other", "new"},
		{"rm $M/other", "cat $M/other 2>&1 | grep -o 'No such.*'", "No such file or directory"},
		{"mkdir $M/d && touch $M/d/x $M/d/y && chmod 600 $M/d/x", "ls $M/d; stat -c '%a %s' $M/d/x", "x\ny\n600 0"},
		{"mv $M/d $M/e", "ls $M $M/e", "/M:\ne\nnote\n\n/M/e:\nx\ny"},
		{"ln -s e/x $M/link", "readlink $M/link", "e/x"},
		{"truncate -s 2 $M/note", "cat $M/note", "th"},
		{": > $M/note", "wc -c < $M/note", "0"},
		{"rm -r $M/e $M/link", "ls $M", "note"},
		{"printf 'sources: []' > $HOME_OF/agent/coder/context.yaml", "cat $HOME_OF/agent/coder/context.yaml", "sources: []"},
		{"mkdir -p $HOME_OF/project/home-me && echo text > $HOME_OF/project/home-me/notes.md", "cat $HOME_OF/project/home-me/notes.md", "text"},
		{": > $HOME_OF/trust.jsonl", "wc -c < $HOME_OF/trust.jsonl", "0"},
		{"rm $HOME_OF/trust.jsonl", "ls $HOME_OF", "agent\nproject"},
	} {
		a.ok(try.a)
		b.expect("("+try.b+") | sed \"s#$M#/M#\"", try.want)
	}
	same(t, "", hosts...)
}

// What programs do to files is the same for hosts: editors, archives, a repository.
func TestProgramsUseSharedFiles(t *testing.T) {
	_, hosts := newCluster(t, "a", "b")
	a, b := hosts[0], hosts[1]
	for _, try := range []struct{ what, a, b, want string }{
		{"python", `python3 -c 'import os; f=open(os.environ["M"]+"/p","w"); f.write("x"*70000); f.close()'`, "stat -c %s $M/p", "70000"},
		{"an atomic writer", `python3 -c '
import os
m=os.environ["M"]
with open(m+"/p.tmp","w") as f:
    f.write("atomic"); f.flush(); os.fsync(f.fileno()); os.rename(m+"/p.tmp", m+"/p")
'`, "cat $M/p; ls $M", "atomicp"},
		{"sed -i", "printf 'a\\nb\\n' > $M/s && sed -i s/b/c/ $M/s", "cat $M/s", "a\nc"},
		{"cp -a", "mkdir /tmp/x.$$ && cd /tmp/x.$$ && mkdir -p t/u && echo 1 > t/u/f && ln -s f t/u/l && touch -d 2001-01-01 t/u/f && cp -a t $M/ && rm -r /tmp/x.$$", "cat $M/t/u/l; stat -c %Y $M/t/u/f", "1\n978307200"},
		{"mv", "mv $M/t $M/moved && mv $M/moved/u/f $M/f", "find $M -name f | sed \"s#$M/##\"; ls $M/moved/u", "f\nl"},
		{"mv from elsewhere", "mkdir -p $HOME_OF/agent/coder/scratch/d && echo 2 > $HOME_OF/agent/coder/scratch/d/f && mv $HOME_OF/agent/coder/scratch/d $M/d && ls $HOME_OF/agent/coder/scratch", "cat $M/d/f", "2"},
		{"mv to elsewhere", "mv $M/d $HOME_OF/agent/coder/scratch/ && cat $HOME_OF/agent/coder/scratch/d/f", "ls $M | grep -c '^d$'", "0"},
		{"mknod", "mkfifo $M/fifo && python3 -c 'import os; os.mknod(os.environ[\"M\"]+\"/made\", 0o640)'", "ls $M/fifo 2>&1 | grep -c 'No such'; stat -c %a $M/made", "1\n640"},
		{"hard links are refused", "ln $M/f $M/f2 2>&1 | grep -o 'Operation.*'", "ls $M/f2 2>&1 | grep -c 'No such'", "1"},
		{"mapped memory", `python3 -c '
import os, mmap
f=open(os.environ["M"]+"/map","w+b"); f.truncate(5); f.flush()
m=mmap.mmap(f.fileno(), 5); m[:]=b"hello"; m.flush(); m.close(); f.close()'`, "cat $M/map", "hello"},
		{"attributes", "setfattr -n user.note -v x $M/map 2>/dev/null || python3 -c 'import os; os.setxattr(os.environ[\"M\"]+\"/map\", \"user.note\", b\"x\")'", "python3 -c 'import os; print(os.getxattr(os.environ[\"M\"]+\"/map\", \"user.note\"), os.getxattr(os.environ[\"M\"]+\"/map\", \"user.ctx.shared\"))'", "b'x' b'yes'"},
		{"rm -r", "rm -r $M/moved $M/p $M/s $M/map $M/made $M/fifo", "ls $M", "f"},
	} {
		if out, ok := a.sh(try.a); !ok {
			t.Errorf("%s: %s", try.what, out)
		}
		b.expect(try.b, try.want)
	}
	same(t, "", hosts...)
	if out, ok := a.sh("command -v vim || command -v vi || command -v ex"); ok {
		a.ok("printf 'one\\n' > $M/v && " + out + " -es -c 's/one/two/' -c wq $M/v </dev/null; cat $M/v | grep two")
		b.expect("cat $M/v", "two")
	} else {
		t.Log("there is no vim here")
	}
	if _, ok := a.sh("command -v git"); ok {
		a.ok("cd $M && git -c init.defaultBranch=main init -q repo && cd repo && echo x > f && git add f && git -c user.name=a -c user.email=a@b commit -qm first && git gc -q")
		b.expect("cd $M/repo && git -c safe.directory='*' log --format=%s && git -c safe.directory='*' status --short && git -c safe.directory='*' fsck", "first")
	} else {
		t.Log("there is no git here")
	}
	same(t, "", hosts...)
}

// Files that are too large are of one host until they are small again.
func TestLargeFilesStayWithTheirHost(t *testing.T) {
	_, hosts := newCluster(t, "a", "b")
	a, b := hosts[0], hosts[1]
	attr := "python3 -c 'import os; print(os.getxattr(os.environ[\"M\"]+\"/big\", \"user.ctx.shared\").decode())'"
	a.ok("head -c 300000 /dev/zero > $M/big")
	a.expect(attr, "no")
	b.expect("cat $M/big 2>&1 | grep -c 'No such'", "1")
	a.ok("truncate -s 3 $M/big && printf abc > $M/big")
	a.expect(attr, "yes")
	b.expect("cat $M/big", "abc")
	a.ok("head -c 300000 /dev/zero >> $M/big")
	b.expect("cat $M/big", "abc")
	a.ok("truncate -s 2 $M/big")
	b.expect("cat $M/big; ls $M", "abbig")
	a.ok("head -c 300000 /dev/zero >> $M/big")
	b.ok("printf other > $M/big")
	a.expect("cat $M/big; ls $M; stat -c %s $M/*conflict*", "otherbig\nbig.ctxfs-conflict-a-1\n300002")
	same(t, "", hosts...)
}

// Both hosts changed a file: the later close keeps its own beside the other.
func TestTwoHostsChangeAFile(t *testing.T) {
	_, hosts := newCluster(t, "a", "b")
	a, b := hosts[0], hosts[1]
	a.ok("printf one > $M/n; printf one > $M/gone; mkdir $M/d; printf one > $M/d/x")
	c := b.client()
	for i, name := range []string{"n", "gone", "d/x", "new"} {
		c.must(t, ask{Op: "open", Path: name, File: i})
		c.must(t, ask{Op: "write", Data: "b", File: i})
	}
	a.ok("printf a >> $M/n && rm $M/gone && rm -r $M/d && printf a > $M/new")
	for i := range 4 {
		c.must(t, ask{Op: "close", File: i})
	}
	want := `d/x.ctxfs-conflict-b-1 oneb
gone.ctxfs-conflict-b-1 oneb
n onea
n.ctxfs-conflict-b-1 oneb
new a
new.ctxfs-conflict-b-1 b`
	for _, h := range hosts {
		h.expect("cd $M && for f in $(find . -type f | sort); do echo ${f#./} $(cat $f); done", want)
	}
	same(t, "", hosts...)
}

// A host that is cut off refuses what it cannot commit, and says so; what a close could not commit follows.
func TestFilesOfAHostThatIsCutOff(t *testing.T) {
	_, hosts := newCluster(t, "a", "b")
	a, b := hosts[0], hosts[1]
	a.ok("printf one > $M/n; mkdir $M/d")
	b.expect("cat $M/n; ls $M", "oned\nn")
	b.engine.Cut()
	b.expect("cat $M/n", "one")
	b.expect("mkdir $M/e 2>&1 | grep -o 'Connection.*'; rm $M/n 2>&1 | grep -o 'Connection.*'; mv $M/n $M/m 2>&1 | grep -o 'Connection.*'; rmdir $M/d 2>&1 | grep -o 'Connection.*'; chmod 600 $M/n 2>&1 | grep -o 'Connection.*'; ln -s x $M/l 2>&1 | grep -o 'Connection.*'; ls $M; stat -c %a $M/n",
		"Connection timed out\nConnection timed out\nConnection timed out\nConnection timed out\nConnection timed out\nConnection timed out\nd\nn\n644")
	b.expect(`python3 -c '
import os
f=open(os.environ["M"]+"/n","w"); f.write("two")
try: f.close()
except OSError as e: print(e.strerror)
print(open(os.environ["M"]+"/n").read())'`, "Connection timed out\ntwo")
	a.expect("cat $M/n", "one")
	b.engine.Heal()
	b.expect("cat $M/n", "two")
	a.expect("cat $M/n", "two")
	same(t, "", hosts...)
}
