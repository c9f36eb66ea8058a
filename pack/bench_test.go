package pack

import (
	"fmt"
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
				if _, err := compile(in); err != nil {
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
			mm := NewMemo()
			build := func() {
				if _, err := CompileWith(&in, mm); err != nil {
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
