package recipetest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestEachChangeIsSeenByTheNextRead(t *testing.T) {
	harness.NeedRoot(t)
	harness.NeedFusermount(t)
	uid := harness.KnownUser(t, "games", "news", "uucp", "nobody")
	m := harness.Start(t, harness.Options{UID: uid, GID: uid})
	s := newStage(t, m, uid)
	inStore := filepath.Join(m.Store, strings.TrimPrefix(s.AgentHome(), m.Dir))
	run := func(script string) {
		t.Helper()
		m.Run(t, harness.Client{UID: uid, Dir: s.AgentHome(), Argv: []string{"bash", "-ec", script}, Env: []string{"STORE=" + inStore, "WORK=" + s.work}}).OK()
	}
	pack := func() (md string) { // of a workspace that answered in time
		t.Helper()
		harness.Eventually(t, "the workspace to answer", func() bool {
			r := m.Run(t, harness.Client{UID: uid, Dir: s.Dir, Argv: []string{"bash", "-c", "cat context/pack.report.md; echo THE PACK; cat context/pack.md"}})
			var report string
			report, md, _ = strings.Cut(r.OK(), "THE PACK\n")
			return !strings.Contains(report, "\n- stale: ")
		})
		return md
	}
	s.put("work/f.md", "The file.\n")
	s.put("home/memory/m.md", "Begin the old way.\n")
	m.Run(t, harness.Client{UID: uid, Dir: s.Dir, Argv: []string{"bash", "-c", `cat >> messages.jsonl`}, Stdin: strings.NewReader(harness.Message("user", "Begin."))}).OK()
	for _, c := range []struct{ script, is string }{
		{`echo 'sources: [{type: file, id: v1, path: f.md}, {type: journal}]' > context.yaml`, "Block: v1"},
		{`sed -i s/v1/v2/ context.yaml`, "Block: v2"},
		{`sed s/v2/v3/ context.yaml > c.tmp; mv c.tmp context.yaml`, "Block: v3"},
		{`sed -i s/v3/v4/ $STORE/context.yaml`, "Block: v4"},
		{`sed s/v4/v5/ $STORE/context.yaml > $STORE/c.tmp; mv $STORE/c.tmp $STORE/context.yaml`, "Block: v5"},
		{`echo 'sources: [{type: file, id: b1, path: f.md}]' > base.yaml; echo '{import: ./base.yaml, sources: [{type: memory}, {type: journal}]}' > context.yaml`, "Block: b1"},
		{`sed -i s/b1/b2/ base.yaml`, "Block: b2"},
		{`sed -i s/b2/b3/ $STORE/base.yaml`, "Block: b3"},
		{`mkdir -p node_modules/p; echo 'sources: [{type: file, id: p1, path: f.md}]' > node_modules/p/context.yaml; sed -i s/b3/gone/ base.yaml; echo 'import: p' >> base.yaml`, "Block: p1"},
		{`mkdir q; echo 'sources: [{type: file, id: p2, path: f.md}]' > q/context.yaml; mv node_modules/p old; mv q node_modules/p`, "Block: p2"},
		{`echo 'The new file.' > "$WORK/f.md"`, "The new file."},
		{`echo 'Begin the new way.' > memory/m.md`, "Begin the new way."},
		{`echo 'Begin in the store.' > $STORE/memory/m.md`, "Begin in the store."},
		{`echo 'sources: [{type: file, id: s1, path: f.md}, {type: journal}]' > session/s1/context/context.yaml`, "Block: s1"},
		{`rm session/s1/context/context.yaml`, "Block: p2"},
		{`rm context.yaml; echo 'A guide.' > "$WORK/DELTA.md"`, "A guide."},
	} {
		run(c.script)
		if md := pack(); !strings.Contains(md, c.is) {
			t.Errorf("after %s the pack lacks %q:\n%s", c.script, c.is, md)
		}
	}
}
