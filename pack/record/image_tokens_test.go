package record

import "testing"

// The examples that providers give of their formulas.
func TestImagesCostWhatProvidersSay(t *testing.T) {
	for _, c := range []struct{ width, height, anthropic, openAI, gemini int }{
		{200, 200, 54, 255, 258},
		{384, 384, 197, 255, 258},
		{960, 540, 692, 765, 1548},
		{1000, 1000, 1334, 765, 1032},
		{1024, 1024, 1399, 765, 1032},
		{1092, 1092, 1590, 765, 1032},
		{2048, 4096, 1600, 1105, 4644},
		{1, 5000, 1, 765, 5160},
	} {
		a, g := anthropicTokens(c.width, c.height), geminiTokens(c.width, c.height)
		if a != c.anthropic || g != c.gemini || imageTokens(c.width, c.height) < c.openAI {
			t.Errorf("%d×%d: Anthropic %d, Gemini %d, want %+v", c.width, c.height, a, g, c)
		}
	}
}
