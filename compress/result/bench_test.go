package result

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/tokens"
)

// BenchmarkShorten shortens results of each kind, and ten times as much of each, to 500 tokens.
func BenchmarkShorten(b *testing.B) {
	counter, err := tokens.For("")
	if err != nil {
		b.Fatal(err)
	}
	for _, g := range goldens {
		text := resultOf(b, g.name)
		for _, times := range []int{1, 10} {
			text := strings.Repeat(text, times)
			if times > 1 && (g.kind == KindJSON || g.kind == KindSearch && strings.HasPrefix(text, "{") || g.kind == KindHTML || g.kind == KindBinary) {
				continue
			}
			b.Run(fmt.Sprintf("%s/%dx", g.name, times), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for range b.N {
					kind := Recognise(text, g.about)
					Shorten(text, kind, g.about, Limit{Tokens: 500, Count: counter.Count}, path)
				}
			})
		}
	}
}
