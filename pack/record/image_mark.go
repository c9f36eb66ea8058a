package record

import (
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// captionBytes is the most that a mark repeats of the text beside an image.
const captionBytes = 48

// imageMark returns the line that replaces an image, a sound, or a file: its kind, the text next to it, its format, its size in
// pixels if the header has it, and its path.
//
//	[Image at Turn 3: The login page after the fix · png 1280×720 · context/line/9]
func imageMark(part []byte, beside string, turn int, at Address) string {
	var about []string
	if caption := strings.ReplaceAll(OneLine(compress.Sentence(beside, captionBytes)), "]", ")"); caption != "" {
		about = append(about, caption)
	}
	d, _ := readDatum(part)
	if format := formatOf(part); format != "" {
		about = append(about, format)
	}
	about = append(about, ctxabi.LineDir+"/"+at.String())
	return fmt.Sprintf("[%s at Turn %d: %s]", d.noun(), turn, strings.Join(about, " · "))
}

// formatOf returns "png 1280×720", or the name of the format if the header has no size; "" for other
// data.
func formatOf(part []byte) string {
	im := ReadImage(part)
	format := strings.TrimPrefix(im.Type, "image/")
	if im.Width > 0 {
		format += fmt.Sprintf(" %d×%d", im.Width, im.Height)
	}
	return format
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
