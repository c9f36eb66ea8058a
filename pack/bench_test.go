package pack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// cycle is a long log that repeats a short one, so that a million records need no gigabyte.
type cycle struct {
	of *memLog
	n  int
}

func (c *cycle) Len() int { return c.n }

func (c *cycle) At(line int) ctxabi.Entry {
	e := c.of.At((line-1)%c.of.Len() + 1)
	if e.Role == ctxabi.System { // none in the middle
		e.Role = ctxabi.Assistant
	}
	if e.CallOf > 0 {
		e.CallOf += int32((line - 1) / c.of.Len() * c.of.Len())
	}
	return e
}

func (c *cycle) Record(line int) ([]byte, error) { return c.of.Record((line-1)%c.of.Len() + 1) }

func cycleOf(n int) *cycle {
	return &cycle{longLog(210), n}
}

var benchLengths = []int{100, 10_000, 1_000_000}

func BenchmarkFirstPack(b *testing.B) {
	for _, n := range benchLengths {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			in := Input{Session: "s1", Budget: 32000, Messages: cycleOf(n)}
			for b.Loop() {
				if _, err := Compile(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPackAfterAppend(b *testing.B) {
	for _, n := range benchLengths {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			log := cycleOf(n)
			in := Input{Session: "s1", Budget: 32000, Messages: log}
			mm := newMemo()
			build := func() {
				if _, err := compile(&in, mm); err != nil {
					b.Fatal(err)
				}
			}
			build()
			for b.Loop() {
				log.n++
				build()
			}
		})
	}
}

func BenchmarkUnchanged(b *testing.B) {
	d := newDesk(b, Config{Budget: 32000})
	d.append(longLog(100).Records()...)
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

// isSettled says whether the files are old enough for their signs to be trusted.
func isSettled(d *desk) bool {
	l := d.b.entry(d.x.ID()).last.look
	for _, f := range l.files {
		if f.sign.exists() && f.sign.ino == 0 {
			return false
		}
	}
	here := 0
	for _, d := range l.dirs {
		if d.exists() {
			here++
		}
	}
	return here == l.entered
}

// A home with 30 sources and 200 knowledge files: nothing new, and one file of it changed.
func BenchmarkCurrentLargeHome(b *testing.B) {
	setUp := func(b *testing.B) *desk {
		d := newDesk(b, Config{Budget: 32000})
		d.append(longLog(40).Records()...)
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
			d.append(message("assistant", "ok"))
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
