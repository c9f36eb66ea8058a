package result

import (
	"fmt"
	"strings"
	"testing"
)

// Lines of one pattern are counted at every limit; what is unusual stays.
func TestRepeatedPatternIsCounted(t *testing.T) {
	var iterations, bars, requests strings.Builder
	for i := range 600 {
		fmt.Fprintf(&iterations, "iter %d: 21.%03d ms ok\n", i, i)
	}
	iterations.WriteString("Traceback (most recent call last):\n  File \"bench.py\", line 12, in <module>\n    main()\nZeroDivisionError: division by zero\n")
	for i := range 52 {
		fmt.Fprintf(&bars, "%3d%%|%-10s| %d/51 [00:%02d<00:10, 3.%d it/s]\n", i*100/51, strings.Repeat("█", i/6), i, i, i)
		if i == 30 {
			bars.WriteString("Decrypted data : b'HTB{t3mp0r4l_p4r4d0x}'\n")
		}
	}
	for i := range 300 {
		status := 200
		if i == 170 {
			status = 503
		}
		fmt.Fprintf(&requests, "14:%02d:%02d GET /v1/rates/%d status=%d ms=%d req=%08x\n", i/60, i%60, i*7, status, i%200, i*2654435761%(1<<32))
	}
	for name, c := range map[string]struct {
		text string
		most int // tokens
		want []string
	}{
		"iterations":    {iterations.String(), 130, []string{"iter 0: ", "more like it]", "ZeroDivisionError: division by zero", "Traceback (most"}},
		"progress bars": {bars.String(), 140, []string{"HTB{t3mp0r4l_p4r4d0x}", "51/51", "more like it]"}},
		"requests":      {requests.String(), 200, []string{"status=503", "more like it]"}},
	} {
		for _, tokens := range []int{250, 500, 2000, 1 << 20} {
			limit := Limit{Tokens: tokens}
			about := Hint{Tool: "bash", Args: `{"command":"python run.py"}`}
			short, used, cut := Shorten(c.text, Recognise(c.text, about), about, limit, "context/line/3.txt")
			if n := limit.of(short); !cut || used != KindLog || n > c.most {
				t.Errorf("%s at %d: %d tokens, cut %v, as %s", name, tokens, n, cut, used)
			}
			for _, want := range c.want {
				if !strings.Contains(short, want) {
					t.Errorf("%s at %d lacks %q:\n%s", name, tokens, want, short)
				}
			}
			if strings.Contains(short, " 0/51") {
				t.Errorf("%s shows the first state of a progress bar:\n%s", name, short)
			}
		}
	}
}
