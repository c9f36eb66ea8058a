package builder

import (
	"bytes"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
)

func TestACachedSourceDoesNotRunAgainAfterARestart(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		wants := []want{plain("plain"), hashed("hashed"), plain("ttl"), plain("failing")}
		wants[2].cache = recipe.Cache{Strategy: recipe.CacheTTL, TTL: time.Hour}
		b.fake.auto = func(c source.Command) (source.Output, error) {
			if c.Args[0] == "failing" {
				return source.Output{Failed: "exit status 1"}, nil
			}
			return source.Output{Data: []byte(c.Args[0]), Sandbox: "uid 7"}, nil
		}
		before := b.gather(b.session("s"), -1, wants...)
		for i, o := range []session.Options{{}, {ReadOnly: true}} {
			b.restart(o)
			got := b.gather(b.session("s"), -1, wants[:3]...)
			b.expect(got, "plain", "hashed", "ttl")
			b.runs(0)
			if got[0].sha256 != before[0].sha256 || got[0].note != before[0].note {
				b.Errorf("restart %d: %+v, before %+v", i, got[0], before[0])
			}
		}
		b.restart(session.Options{})
		b.fake.auto = says("new")
		time.Sleep(time.Hour)
		b.expect(b.gather(b.session("s"), -1, wants...), "plain", "hashed", "new", "new")
		b.runs(2)
	})
}

func TestATornOrForeignOutputIsAbsent(t *testing.T) {
	for _, name := range []string{"torn", "foreign", "of another source", "of another format"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *outputsBench) {
				b.fake.auto = says("old")
				x := b.session("s")
				b.gather(x, -1, plain("map"))
				file := storedName("map")
				data, err := x.Derived(file)
				if err != nil {
					b.Fatal(err)
				}
				switch name {
				case "torn":
					f, err := b.disk.OpenFile(x.Dir()+"/.ctxfs/"+file, 2, 0)
					if err != nil {
						b.Fatal(err)
					}
					f.Truncate(int64(len(data)))
					f.Close()
				case "foreign":
					x = b.session("other")
					x.SetDerived(file, data)
				case "of another source":
					x.SetDerived(file, bytes.Replace(data, []byte(`"name":"map"`), []byte(`"name":"mop"`), 1))
				case "of another format":
					x.SetDerived(file, bytes.Replace(data, []byte(`"format":1`), []byte(`"format":2`), 1))
				}
				place := x.Ref().Session
				b.restart(session.Options{})
				b.fake.auto = says("new")
				b.expect(b.gather(b.session(place), -1, plain("map")), "new")
				b.runs(1)
			})
		})
	}
}

func TestNothingIsStoredInAStoreThatIsReadOnly(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		b.session("s")
		b.restart(session.Options{ReadOnly: true})
		b.fake.auto = says("one")
		x := b.session("s")
		_, before := b.disk.Ops()
		b.expect(b.gather(x, -1, plain("map")), "one")
		b.o.retain(x, nil)
		if _, after := b.disk.Ops(); after != before {
			b.Errorf("%d changes of the disk", after-before)
		}
	})
}

func TestWhatIsEvictedIsReadAgain(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		x := b.session("s")
		b.fake.auto = says("one")
		last := b.gather(x, -1, plain("map"))
		b.o.evict(x.ID())
		if n := b.o.size(x.ID()); n != 0 {
			b.Errorf("%d bytes are held", n)
		}
		if !b.unchanged(x, last, plain("map")) {
			b.Error("the stored output is taken for another one")
		}
		b.expect(b.gather(x, -1, plain("map")), "one")
		b.runs(1)

		b.o.evict(x.ID())
		data, err := x.Derived(storedName("map"))
		if err != nil {
			b.Fatal(err)
		}
		x.SetDerived(storedName("map"), bytes.Replace(data, []byte("\none"), []byte("\ntwo"), 1))
		if b.unchanged(x, last, plain("map")) {
			b.Error("another stored output is taken for the one of the last pack")
		}
		b.expect(b.gather(x, -1, plain("map")), "two")
		b.runs(1)
	})
}
