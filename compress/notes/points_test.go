package notes

import (
	"slices"
	"strings"
	"testing"
)

// A point is whole, or "…" stands where something is missing.
func TestPointIsNoFragment(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a wrapped sentence", "The cache is filled by the loader because each of the\nworkers needs it.", "The cache is filled by the loader because each of the workers needs it."},
		{"an item that introduces items", "- Updated `go.mod` to:\n  - `example.com/a` v1.2.3\n- Removed the old lock.",
			"Updated `go.mod` to: `example.com/a` v1.2.3; | Removed the old lock."},
		{"an introduction without a colon", "**Tablet (#W2692)**\n- Refund of $951.21 was approved", "Tablet (#W2692); Refund of $951.21 was approved;"},
		{"a list that is too long", "I changed:\n- " + strings.Repeat("a", 90) + "\n- " + strings.Repeat("b", 90) + "\n- c",
			"I changed: " + strings.Repeat("a", 90) + "; …"},
		{"a list with code", "I changed:\n- the loader\n```\nx\n```\n", "I changed: the loader; …"},
		{"a list that is a diff", "Edits:\n- limit is set to 3\n+ limit is set to 4\n", ""},
		{"a subject in the previous sentence", "Is it late?\nIt was fixed in v2 because users complained.", "It was fixed in v2 because users complained."},
		{"a time is no label", "- 1:00 the build is installed on the server", "1:00 the build is installed on the server"},
		{"dots in a sentence", "Because C:/temp/... by mistake has four slashes, the parser strips one.",
			"Because C:/temp/... by mistake has four slashes, the parser strips one."},
	} {
		var got []string
		for _, p := range Points(c.text, 160, 4) {
			got = append(got, p.Text)
		}
		if s := strings.Join(got, " | "); s != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, s, c.want)
		}
	}
}

// Adjacent points have consecutive numbers; text between points leaves a gap.
func TestPointsAreNumbered(t *testing.T) {
	var got []int
	for _, p := range Points("I moved the parser. The lexer uses it.\n\n```\nx\n```\n\nThe printer was removed.", 100, 9) {
		got = append(got, p.N)
	}
	if want := []int{0, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDefectIsQuotedWithItsRepair(t *testing.T) {
	const text = "Duplicate `applyTheme();` created (lines 316/317). Removed."
	if got := quoted(text, "assistant"); !slices.Equal(got, []string{text}) {
		t.Errorf("quotes: %q", got)
	}
	if got := Points(text, 200, 9); len(got) != 1 || got[0].Text != text {
		t.Errorf("points: %+v", got)
	}
	long := "The build failed because " + strings.Repeat("of this and that ", 8) + "here."
	for _, p := range Points(long+" The cause was removed.", 180, 9) {
		if strings.Contains(p.Text, "failed") {
			t.Errorf("without its repair: %q", p.Text)
		}
	}
	for _, s := range quoted("The build failed because "+strings.Repeat("of this and that ", 22)+"here. The cause was removed.", "assistant") {
		if strings.HasPrefix(s, "The build failed") {
			t.Errorf("without its repair: %q", s)
		}
	}
}

func TestQuestionHasItsCommands(t *testing.T) {
	text := "Ready. The steps are:\n\n```\ngit tag v1\n```\n\nShall I proceed?"
	if got, want := Question(text, 320), "Ready. The steps are:\ngit tag v1\nShall I proceed?"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Question("Use internal/transport/client.go or internal/transport/server.go?", 40); got != "… or internal/transport/server.go?" {
		t.Errorf("cut inside a word: %q", got)
	}
}

func TestQuestionBeforeItsExplanation(t *testing.T) {
	if got := Question("Shall I keep the cache? It is large, and nobody reads it.", 40); got != "Shall I keep the cache? …" {
		t.Errorf("got %q", got)
	}
}

func TestSlashAloneSaysNothing(t *testing.T) {
	for text, want := range map[string]Sense{"/": Idle, "/mode": Idle, "好的": Reply, "はい": Reply, "/etc/hosts": Request} {
		if got := SenseOf(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestSentenceRestatesSubject(t *testing.T) {
	for _, c := range []struct {
		older, later string
		want         bool
	}{
		{"All tests pass.", "Two tests fail in `auth_test.go`.", true},
		{"Three tests in `auth_test.go` fail.", "All tests pass now.", true},
		{"57 tests passed, 2 failed.", "All 59 tests passed.", true},
		{"3/12 rows of `rates_table` are filled.", "Now 9 of 12 rows of `rates_table` are filled.", true},
		{"I migrated 3 of 12 files.", "I migrated 12 of 12 files.", true},

		{"Tests in `auth_test.go` pass.", "Tests in `cart_test.go` fail.", false},
		{"The test of module 3 failed.", "The test of module 4 failed.", false},
		{"The frontend tests pass.", "The backend tests fail.", false},
		{"Chunk 9 is done.", "Chunk 10 is done.", false},
		{"`retryLimit` is 3.", "`waitLimit` is 5.", false},
		{"PR #47 was merged.", "PR #51 was merged.", false},
		{"The loader reads 3 files.", "The printer writes 4 files.", false},
		{"3/12 rows of `rates_table` are filled.", "9/12 rows of `tax_table` are filled.", false},
		{"3/12 rows of `rates_table` are filled.", "9/12 columns of `rates_table` are typed.", false},
		{"3 of 12 files are new.", "9 of 40 files are new.", false},
		{"The fee is due on 3/12 at noon.", "The fee is due on 4/12 at noon.", false},
		{"The cause is a race.", "The cause is a lock.", false},
	} {
		if got := Restated(Subjects(c.older), Subjects(c.later)); got != c.want {
			t.Errorf("%q, later %q: %v", c.older, c.later, got)
		}
	}
}

func TestLookAlikeCountHidesAnother(t *testing.T) {
	for _, c := range [][2]string{
		{"Chrome passes 13/14 tests.", "Firefox passes 14/14 tests."},
		{"In Berlin 2 of 3 replicas are down.", "In Paris 1 of 3 replicas are down."},
		{"Invoices: 40 of 100 rows failed.", "Customers: 3 of 100 rows failed."},
		{"Anna has 5/12 vacation days left.", "Ben has 9/12 vacation days left."},
		{"I migrated 3 of 12 files of module 3.", "I migrated 4 of 12 files of module 4."},
	} {
		if Restated(Subjects(c[0]), Subjects(c[1])) {
			t.Errorf("%q is hidden by %q", c[0], c[1])
		}
	}
	if !Restated(Subjects("Chrome passes 13/14 tests."), Subjects("Chrome passes 14/14 tests.")) {
		t.Error("an older count of the same browser stays")
	}
}
