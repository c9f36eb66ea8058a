package compress

import (
	"slices"
	"testing"
)

func TestLiftTimes(t *testing.T) {
	for text, want := range map[string]string{
		"Current time: 2026-11-22T10:16:52Z\n":                                 "Current time: " + TimeMark + "\n",
		"Now: 2026-11-22 10:16:52.123 +01:00.":                                 "Now: " + TimeMark + ".",
		"Date: Sun Nov 22 10:16:52 UTC 2026\nx\n":                              "Date: " + TimeMark + "\nx\n",
		"# Map\nGenerated at Sun, 22 Nov 2026 10:16 GMT":                       "# Map\nGenerated at " + TimeMark,
		"It is 10:16:52 PM, go on":                                             "It is " + TimeMark + ", go on",
		"timestamp=1795342612000 files=3":                                      "timestamp=" + TimeMark + " files=3",
		"Today is Sunday, November 22, 2026.":                                  "Today is " + TimeMark + ".",
		"as of 2026-11-22, generated at 10:16":                                 "as of " + TimeMark + ", generated at " + TimeMark,
		"Date:   Sun Nov 22 10:16:52 2026 +0000\n":                             "Date:   " + TimeMark + "\n",
		"The meeting time is 12:30, the due date 2025-02-03.":                  "", // these are not the present
		"Date: 2024-01-01\nDate: 2024-01-02\nDate: 2024-01-03\na log of dates": "",
		"Released on 2024-01-02.":                                              "", // no word for the present
		"v1.2.3 at 10.0.0.1:8443":                                              "",
		"The timeout is 30 s, the port 8443.":                                  "",
		"updates: 12":                                                          "",
		"":                                                                     "",
	} {
		still, lines := LiftTimes(text)
		if want == "" {
			if still != text || lines != nil {
				t.Errorf("%q: %q %q", text, still, lines)
			}
			continue
		}
		if still != want || len(lines) != 1 {
			t.Errorf("%q: %q %q, want %q", text, still, lines, want)
		}
		if again, more := LiftTimes(still); again != still || more != nil {
			t.Errorf("%q: once more %q %q", text, again, more)
		}
	}
	if _, lines := LiftTimes("a\n  Time: 10:16:52\nNow: 2026-11-22\n"); !slices.Equal(lines, []string{"Time: 10:16:52", "Now: 2026-11-22"}) {
		t.Errorf("%q", lines)
	}
}

func FuzzLiftTimes(f *testing.F) {
	f.Add("Now: 2026-11-22 10:16")
	f.Fuzz(func(t *testing.T, text string) {
		still, lines := LiftTimes(text)
		if (still == text) != (lines == nil) {
			t.Errorf("%q: %q %q", text, still, lines)
		}
	})
}
