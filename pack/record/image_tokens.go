package record

import (
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/picture"
)

// What an image costs is estimated by the formulas that providers publish, from its width and height:
//
//   - Anthropic, "Vision" (docs.anthropic.com/en/docs/build-with-claude/vision): width × height / 750 tokens, after it was scaled so
//     that no edge has more than 1568 pixels; about 1600 at most.
//   - Google, "Understand and count tokens" (ai.google.dev/gemini-api/docs/tokens): 258 where both edges have 384 pixels at most, else
//     258 for each tile, whose edge is two thirds of the shorter edge, between 256 and 768.
//
// A pack is folded once for all providers, so the largest counts. OpenAI ("Images and vision", 85 tokens and 170 for each tile of
// 512 × 512 after scaling) never counts more than Google. An image whose size is not known, since it is behind an
// address or its header cannot be read, counts as the largest that Anthropic and OpenAI know.
const unknownImage = 1600

// anthropicEdge is the longest edge in pixels of an image that Anthropic does not scale.
const anthropicEdge = 1568

// imageTokens is what an image of a size costs at most.
func imageTokens(width, height int) int {
	return max(anthropicTokens(width, height), geminiTokens(width, height))
}

// anthropicTokens returns what an image of a size costs at Anthropic.
func anthropicTokens(width, height int) int {
	w, h := float64(width), float64(height)
	if long := max(w, h); long > anthropicEdge {
		w, h = w*anthropicEdge/long, h*anthropicEdge/long
	}
	return min(unknownImage, int(w*h/750)+1)
}

// geminiTokens returns what an image of a size costs at Google.
func geminiTokens(width, height int) int {
	if width <= 384 && height <= 384 {
		return 258
	}
	edge := min(max(float64(int(float64(min(width, height))/1.5)), 256), 768)
	return 258 * tiles(float64(width), edge) * tiles(float64(height), edge)
}

// tiles is how many edges fit along a length, and one for the rest.
func tiles(length, edge float64) int {
	n := int(length / edge)
	if float64(n)*edge < length-1e-6 {
		n++
	}
	return max(1, n)
}

// TokensOfImage returns the tokens of a part that is an image; 0 for data that native renderings do not carry.
func TokensOfImage(part []byte) int {
	im := ReadImage(part)
	return im.Tokens()
}

// Tokens returns the tokens of the image; 0 if no provider accepts it.
func (im Image) Tokens() int {
	switch {
	case im.Problem != "":
		return 0
	case im.Width == 0 || im.Type == picture.WebP:
		return unknownImage
	}
	return imageTokens(im.Width, im.Height)
}

// ShowsImages reports whether native renderings show images that stand in a message of a role; those in results they always show.
func ShowsImages(role ctxabi.Role) bool {
	return role != ctxabi.System && role != ctxabi.Developer && role != ctxabi.Assistant
}

// TokensOfImages returns what the images cost that native renderings show of the parts of a message.
func TokensOfImages(role ctxabi.Role, parts []ctxabi.Part) (n int) {
	for _, p := range parts {
		switch {
		case p.Kind == ctxabi.PartData && ShowsImages(role):
			n += TokensOfImage(p.Raw)
		case p.Kind == ctxabi.PartResult:
			n += TokensOfImages(ctxabi.Tool, p.Inner)
		}
	}
	return n
}
