package container

import (
	"fmt"
	"strings"
	"testing"
)

// row is one way in which a container has a session.
type row struct {
	name    string
	podman  string // arguments of podman run; "": it has no such thing
	docker  string // of docker run
	session string // what the session is called inside
	real    string // and in the mount
	other   string // a home that must not open; "": the container has nothing but its session

	readOnly bool
	opens    bool // other does open: the container has root's privileges on the host
}

const (
	home1234 = "/ctx/home/1234/agent/coder/session/s1"
	remapped = "-H unix:///run/docker-remap.sock " // a dockerd with --userns-remap
)

func matrix() []row {
	bind := "-v " + home1234 + ":/session"
	return []row{
		{name: "a session", podman: "--user 1234:1234 " + bind, docker: "--user 1234:1234 " + bind, session: "/session", real: home1234},
		{name: "a session, read-only", podman: "--user 1234:1234 " + bind + ":ro", docker: "--user 1234:1234 " + bind + ":ro", session: "/session", real: home1234, readOnly: true},
		{name: "the mount", podman: "--user 1234:1234 -v /ctx:/ctx", docker: "--user 1234:1234 -v /ctx:/ctx", session: home1234, real: home1234, other: "/ctx/home/1235"},
		{name: "the mount, read-only", podman: "--user 1234:1234 -v /ctx:/ctx:ro", docker: "--user 1234:1234 -v /ctx:/ctx:ro", session: home1234, real: home1234, other: "/ctx/home/1235", readOnly: true},
		{name: "a read-only container", podman: "--read-only --user 1234:1234 " + bind, docker: "--read-only --user 1234:1234 " + bind, session: "/session", real: home1234},
		{name: "root", podman: "-v /ctx:/ctx", docker: "-v /ctx:/ctx", session: "/ctx/home/0/agent/coder/session/s1", real: "/ctx/home/0/agent/coder/session/s1", other: "/ctx/home/1235", opens: true},
		{name: "root without privileges", podman: "--cap-drop ALL -v /ctx:/ctx", docker: "--cap-drop ALL --security-opt no-new-privileges -v /ctx:/ctx",
			session: "/ctx/home/0/agent/coder/session/s1", real: "/ctx/home/0/agent/coder/session/s1", other: "/ctx/home/1235"},
		{name: "a user namespace", podman: "--uidmap 0:100000:65536 --user 1234:1234 -v /ctx:/ctx", docker: remapped + "--user 1234:1234 -v /ctx:/ctx",
			session: "/ctx/home/101234/agent/coder/session/s1", real: "/ctx/home/101234/agent/coder/session/s1", other: "/ctx/home/1234"},
		{name: "root of a user namespace", podman: "--uidmap 0:100000:65536 -v /ctx:/ctx", docker: remapped + "-v /ctx:/ctx",
			session: "/ctx/home/100000/agent/coder/session/s1", real: "/ctx/home/100000/agent/coder/session/s1", other: "/ctx/home/1234"},
		{name: "a user namespace that leaves a uid", podman: "--uidmap 0:100000:1234 --uidmap 1234:1234:1 --uidmap 1235:101235:64301 --user 1234:1234 -v /ctx:/ctx",
			docker: remapped + "--userns host --user 1234:1234 -v /ctx:/ctx", session: home1234, real: home1234, other: "/ctx/home/1235"},
		{name: "root that is a user outside", podman: "--uidmap 0:1234:1 --gidmap 0:1234:1 -v /ctx:/ctx", session: home1234, real: home1234, other: "/ctx/home/1235"},
		{name: "the parent as a slave", podman: "--user 1234:1234 -v /:/host:ro,rslave", docker: "--user 1234:1234 -v /:/host:rslave", session: "/host" + home1234, real: home1234, other: "/host/ctx/home/1235"},
		{name: "a volume", podman: "--user 1234:1234 -v memory:/session", docker: "--user 1234:1234 -v memory:/session", session: "/session", real: home1234},
		{name: "a volume, read-only", podman: "--user 1234:1234 -v memory:/session:ro", docker: "--user 1234:1234 -v memory:/session:ro", session: "/session", real: home1234, readOnly: true},
		{name: "a volume of an agent", podman: "--user 1234:1234 -v coder:/agent", docker: "--user 1234:1234 -v coder:/agent", session: "/agent/session/s1", real: home1234},
		{name: "a volume of a home, in a user namespace", podman: "--uidmap 0:100000:65536 -v home:/me", docker: remapped + "-v home:/me",
			session: "/me/agent/coder/session/s1", real: "/ctx/home/100000/agent/coder/session/s1"},
	}
}

// What a container does, whatever its way in: it appends, reads the prompt, and is refused.
const inside = `
exec 2>&1
cd %s || exit
echo "{\"role\":\"user\",\"content\":\"by %s\"}" >> messages.jsonl && echo appended
head -n 2 context/pack.md
tail -n 1 context/pack.md
truncate -s 0 messages.jsonl
rm messages.jsonl
echo nope >> messages.jsonl
`

// want is what it says then.
func (r row) want(who string) string {
	if r.readOnly {
		return "sh: can't create messages.jsonl: Read-only file system\n# Context Block: conversation\n## 1 user\nby the matrix\n" +
			"truncate: messages.jsonl: open: Read-only file system\nrm: can't remove 'messages.jsonl': Read-only file system\nsh: can't create messages.jsonl: Read-only file system\n"
	}
	return "appended\n# Context Block: conversation\n## 1 user\nby " + who + "\n" +
		"truncate: messages.jsonl: truncate: Operation not permitted\nrm: can't remove 'messages.jsonl': Operation not permitted\nsh: write error: Invalid argument\n"
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("start_dockerd docker")
	w.must("start_dockerd docker-remap --userns-remap=daemon:daemon")
	w.must("mkdir /ctx && ctxfs mount --volume-plugin /ctx")
	w.image()
	w.must("tar -C rootfs -c . | docker -H unix:///run/docker-remap.sock import - busybox")
	for _, uid := range []string{"0", "1234", "1235", "100000", "101234"} {
		w.must(fmt.Sprintf(`d=/ctx/home/%s/agent/coder/session/s1
setpriv --reuid %[1]s --regid %[1]s --clear-groups mkdir -p $d
echo '{"role":"user","content":"by the matrix"}' >> $d/messages.jsonl`, uid))
	}
	for name, opts := range map[string]string{"memory": "-o session=coder/s1 -o uid=1234", "coder": "-o agent=coder -o uid=1234", "home": "-o home=100000"} {
		for _, runtime := range []string{"docker", "docker -H unix:///run/docker-remap.sock", "podman"} {
			w.must(runtime + " volume create --driver ctxfs " + opts + " " + name)
		}
	}
	for _, r := range matrix() {
		for runtime, args := range map[string]string{"podman": r.podman, "docker": r.docker} {
			if args == "" {
				continue
			}
			t.Run(runtime+"/"+strings.ReplaceAll(r.name, " ", "-"), func(t *testing.T) {
				w.t = t
				who := runtime + ", " + r.name
				host, args := splitHost(args)
				script := fmt.Sprintf(inside, r.session, who)
				if r.other != "" {
					script += "ls " + r.other + "\n"
				}
				before := w.must("wc -l < " + r.real + "/messages.jsonl")
				got := w.run(fmt.Sprintf("%s %s run --rm --network none %s busybox sh -c '%s'", runtime, host, args, strings.ReplaceAll(script, "'", `'\''`)))
				want := r.want(who)
				if r.readOnly { // the last record is that of the row before
					want = strings.Replace(want, "by the matrix\n", w.must("tail -n 1 "+r.real+"/context/pack.md"), 1)
				}
				if r.other != "" && r.opens {
					want += "agent\nproject\n"
				} else if r.other != "" {
					want += "ls: can't open '" + r.other + "': Permission denied\n"
				}
				if got != want {
					t.Errorf("%s run %s %s\n%s\nprints\n%s\nwant\n%s", runtime, host, args, script, got, want)
				}
				after := w.must("wc -l < " + r.real + "/messages.jsonl")
				if r.readOnly != (after == before) {
					t.Errorf("the log had %s records and has %s", strings.TrimSpace(before), strings.TrimSpace(after))
				}
			})
			w.t = t
		}
	}
	if got := w.run("ctxfs verify"); !strings.Contains(got, "no problems") {
		t.Errorf("after all: %s", got)
	}
}

// splitHost takes docker's -H from the arguments of run, before which it stands.
func splitHost(args string) (host, rest string) {
	if strings.HasPrefix(args, remapped) {
		return strings.TrimSpace(remapped), strings.TrimPrefix(args, remapped)
	}
	return "", args
}
