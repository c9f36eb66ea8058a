package record

import (
	"bytes"
	"encoding/base64"
	"fmt"
	pixels "image"
	_ "image/gif"  // registers its header
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/picture"
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
	if format := d.format(); format != "" {
		about = append(about, format)
	}
	about = append(about, ctxabi.LineDir+"/"+at.String())
	return fmt.Sprintf("[%s at Turn %d: %s]", d.noun(), turn, strings.Join(about, " · "))
}

// imageTypes are the media types of images that a mark names.
var imageTypes = []string{picture.PNG, picture.JPEG, picture.WebP, picture.GIF}

// format returns "png 1280×720", or the name of the format if the header has no size; "" if it is not known.
func (d *datum) format() string {
	if !d.isImage() || d.url != "" || !slices.Contains(imageTypes, d.mime) || d.data == "" || strings.ContainsAny(d.data, "\r\n") {
		return ""
	}
	b, err := base64.StdEncoding.Strict().DecodeString(d.data)
	if err != nil {
		return ""
	}
	if c, format, err := pixels.DecodeConfig(bytes.NewReader(b)); err == nil {
		return fmt.Sprintf("%s %d×%d", format, c.Width, c.Height)
	}
	return strings.TrimPrefix(d.mime, "image/")
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
