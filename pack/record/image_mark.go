package record

import (
	"encoding/base64"
	"fmt"
	pixels "image"
	_ "image/gif"  // registers its header
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// captionBytes is the most that a mark repeats of the text beside an image.
const captionBytes = 48

// imageMark is the line that stands in place of an image, a sound or a file: what is said beside it, its format, its size in pixels
// where its header tells, and where it is.
//
//	[Image at Turn 3: The login page after the fix · png 1280×720 · context/line/9]
func imageMark(part []byte, beside string, turn int, at Address) string {
	var about []string
	if caption := strings.ReplaceAll(OneLine(compress.Sentence(beside, captionBytes)), "]", ")"); caption != "" {
		about = append(about, caption)
	}
	if format := formatOf(part); format != "" {
		about = append(about, format)
	}
	about = append(about, ctxabi.LineDir+"/"+at.String())
	return fmt.Sprintf("[Image at Turn %d: %s]", turn, strings.Join(about, " · "))
}

// formatOf is "png 1280×720" or, where its header does not tell, the name of the format; "" where that is not known.
func formatOf(part []byte) string {
	im, ok := ReadImage(part)
	if !ok || im.URL != "" {
		return ""
	}
	header := base64.NewDecoder(base64.StdEncoding, strings.NewReader(im.Data))
	if c, format, err := pixels.DecodeConfig(header); err == nil {
		return fmt.Sprintf("%s %d×%d", format, c.Width, c.Height)
	}
	return strings.TrimPrefix(im.MIME, "image/")
}

// imageMarks are those of a message, in the order of its parts; an image in a result stands beside the result's text.
func imageMarks(parts []ctxabi.Part, beside string, turn int, at Address) (marks []string) {
	for _, p := range parts {
		switch p.Kind {
		case ctxabi.PartData:
			marks = append(marks, imageMark(p.Raw, beside, turn, at))
		case ctxabi.PartResult:
			marks = append(marks, imageMarks(p.Inner, p.Result.Text, turn, at)...)
		}
	}
	return marks
}
