package builder

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/packtest"
)

func BenchmarkUnchanged(b *testing.B) {
	d := newDesk(b, Config{Budget: 32000})
	d.append(packtest.LongLog(100).Records()...)
	for _, name := range []string{"a.md", "b.md", "c.md"} {
		d.write("context/pinned/"+name, "Never delete the ledger.\n")
	}
	first := d.pack()
	for !isSettled(d) {
		d.pack()
	}
	for b.Loop() {
		if d.pack() != first {
			b.Fatal("another build")
		}
	}
}

// isSettled reports whether the files are old enough for their signs to be trusted.
func isSettled(d *desk) bool { return d.b.entry(d.x.ID()).newest.Load().gathered.Settled() }

// A home with 30 sources and 200 knowledge files: nothing new, and one file of it changed.
func BenchmarkCurrentLargeHome(b *testing.B) {
	setUp := func(b *testing.B) *desk {
		d := newDesk(b, Config{Budget: 32000})
		d.append(packtest.LongLog(40).Records()...)
		recipe := "sources:\n  - {type: system_role}\n  - {type: pinned}\n  - {type: memory}\n  - {type: knowledge}\n  - {type: playbook}\n  - {type: journal}\n"
		for i := range 24 {
			recipe += fmt.Sprintf("  - {type: file, id: f%d, path: \"${AGENT_HOME}/f%d.md\"}\n", i, i)
			d.write(fmt.Sprintf("../../f%d.md", i), fmt.Sprintf("File %d says little.\n", i))
		}
		for i := range 200 {
			d.write(fmt.Sprintf("../../knowledge/k%03d.md", i), strings.Repeat(fmt.Sprintf("The token refresh number %d is made by the ledger of the client.\n\n", i), 60))
		}
		d.write("../../context.yaml", recipe)
		d.pack()
		for !isSettled(d) {
			d.pack()
		}
		return d
	}
	b.Run("warm", func(b *testing.B) {
		d := setUp(b)
		first := d.pack()
		for b.Loop() {
			if d.pack() != first {
				b.Fatal("another build")
			}
		}
	})
	b.Run("one changed", func(b *testing.B) {
		d := setUp(b)
		n := 0
		for b.Loop() {
			n++
			d.write("../../knowledge/k100.md", fmt.Sprintf("The token refresh %d.\n", n))
			d.pack()
		}
	})
	b.Run("one message more", func(b *testing.B) {
		d := setUp(b)
		for b.Loop() {
			d.append(packtest.Message("assistant", "ok"))
			d.pack()
		}
	})
	b.Run("read", func(b *testing.B) { // what cat would do at least
		d := setUp(b)
		for b.Loop() {
			for i := range 200 {
				if _, err := os.ReadFile(filepath.Join(d.x.Dir(), fmt.Sprintf("../../knowledge/k%03d.md", i))); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
