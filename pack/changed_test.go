package pack

import (
	"fmt"
	"strings"
	"testing"
)

// As long as the prompt shows a ban, it shows the message that lifts the ban, and from the next
// compaction on the ban is marked as changed.
func TestLiftingMessageStays(t *testing.T) {
	story := strings.Repeat("The team talked about the state of the release for a long time today. ", 6)
	const lift = "You may push to main now."
	for name, lifting := range map[string]string{"short": lift, "long": story + lift + " " + story} {
		for _, budget := range []int{2000, 2500, 3000, 4000, 5000, 6000, 8000, 16000, 32000} {
			t.Run(fmt.Sprintf("%s/%d", name, budget), func(t *testing.T) {
				l := newLog()
				turn := func(request, answer string) {
					l.Append(message("user", request))
					l.Append(message("assistant", answer))
				}
				turn("Build the importer.", "I begin.")
				turn("Never push to main.", "Understood.")
				edit := func(i int) {
					turn(fmt.Sprintf("Step %d: edit src/part_%d.ts and run the unit tests; all %d pass.", i, i, i+3),
						fmt.Sprintf("Step %d is done, src/part_%d.ts has the width %d.", i, i, 7*i))
				}
				for i := range budget / 50 {
					edit(i)
				}
				at := l.Len() + 1
				turn(lifting, "I push it.")

				var c Compiler
				compactions, settled := 0, 0
				for i := 0; settled < 6; i++ {
					if i > budget {
						t.Fatalf("%d compactions after the ban was lifted", settled)
					}
					edit(1000 + i)
					b, err := c.Compile(inputOf(l, budget))
					if err != nil {
						t.Fatal(err)
					}
					if i > 0 && b.Compactions > compactions {
						settled++
					}
					compactions = b.Compactions
					pack := string(b.Markdown)
					mark := fmt.Sprintf("Never push to main. [changed at %d]", at)
					if settled > 0 && !strings.Contains(pack, mark) || !strings.Contains(pack, lift) {
						t.Fatalf("%d records, %d compactions after the ban was lifted:\n%s", l.Len(), settled, pack)
					}
				}
			})
		}
	}
}
