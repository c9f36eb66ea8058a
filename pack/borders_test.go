package pack

import "testing"

// The tokens of any beginning of a pack that ends with a line are what counting it whole gives.
func TestTokensOfABeginningAddUp(t *testing.T) {
	history := exampleHistory(t, 150)
	b, err := compile(Input{Session: "example", Agent: "coder", Budget: 6000, Messages: history, Head: history.Head()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.Counter()
	if err != nil {
		t.Fatal(err)
	}
	ends := 0
	for n := range b.Markdown {
		if n > 0 && b.Markdown[n-1] != '\n' {
			continue
		}
		ends++
		if got, want := b.TokensOf(n, c), c.Count(string(b.Markdown[:n])); got != want {
			t.Fatalf("the first %d bytes have %d tokens, counted whole %d", n, got, want)
		}
	}
	if ends < 100 {
		t.Errorf("only %d lines", ends)
	}
}
