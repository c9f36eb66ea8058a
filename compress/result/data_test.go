package result

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"math/rand"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// encoded returns base64 of n bytes that look random.
func encoded(n int) string {
	b := make([]byte, n)
	rand.New(rand.NewSource(7)).Read(b)
	return base64.StdEncoding.EncodeToString(b)
}

func wrapped(data, lineEnd string) string {
	return regexp.MustCompile(`.{76}`).ReplaceAllString(data, "$0"+lineEnd)
}

// Base64 in a text is one mark; what only looks like it stays.
func TestBase64BecomesOneMark(t *testing.T) {
	var pixels bytes.Buffer
	if err := png.Encode(&pixels, image.NewGray(image.Rect(0, 0, 900, 700))); err != nil {
		t.Fatal(err)
	}
	png := base64.StdEncoding.EncodeToString(pixels.Bytes())
	mark := fmt.Sprintf("[Image png 900x700, %s characters · context/line/3.txt]", thousands(len(png)))
	hex := strings.Repeat("0123456789abcdef", 40)
	token := "eyJ" + encoded(300) + "." + "eyJ" + encoded(300) + "." + encoded(60)
	path := strings.Repeat("/src/Components/Part1", 20)
	for name, c := range map[string]struct{ text, want string }{
		"data URL":    {`{"status":"ok","shot":"data:image/png;base64,` + png + `","n":1}`, `{"status":"ok","shot":"` + mark + `","n":1}`},
		"field":       {`{"data":"` + encoded(300) + `"}`, `{"data":"[base64, 400 characters · context/line/3.txt]"}`},
		"image bytes": {"here: " + png + " done", "here: " + mark + " done"},
		"wrapped":     {"-----BEGIN CERTIFICATE-----\n" + wrapped(encoded(600), "\n") + "\n-----END CERTIFICATE-----\n", "-----BEGIN CERTIFICATE-----\n[base64, 800 characters · context/line/3.txt]\n-----END CERTIFICATE-----\n"},
		"in a string": {`{"pem":"` + wrapped(encoded(600), `\n`) + `"}`, `{"pem":"[base64, 800 characters · context/line/3.txt]"}`},
		"slashes":     {`{"a":"` + strings.ReplaceAll(encoded(600), "/", `\/`) + `"}`, `{"a":"[base64, 800 characters · context/line/3.txt]"}`},
		"a document":  {"data:application/pdf;base64," + encoded(300), "[base64 of application/pdf, 400 characters · context/line/3.txt]"},
		"hex":         {hex, hex},
		"token":       {token, token},
		"path":        {path, path},
		"id":          {encoded(120), encoded(120)},
	} {
		if got := WithoutData(c.text, "context/line/3.txt"); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// A result with a picture in it shows the rest of its JSON.
func TestPictureInJSONStaysReadable(t *testing.T) {
	text := `{"status":"ok","url":"http://localhost:3000/login","screenshot":"data:image/png;base64,` + encoded(900000) + `"}`
	short, _, cut := Shorten(text, Recognise(text, Hint{}), Hint{}, Limit{Tokens: 300}, "context/line/3.txt")
	if !cut || !gjson.Valid(short) || len(short) > 300 || !strings.Contains(short, "http://localhost:3000/login") || !strings.Contains(short, "1,200,000 characters") {
		t.Errorf("%q", short)
	}
}

// Any text keeps all of its bytes but those of runs, and JSON stays JSON.
func FuzzWithoutData(f *testing.F) {
	f.Add("a "+encoded(200)+" b", `{"a":"`+encoded(300)+`"}`)
	f.Add("data:;base64,", `{"a":"data:image/png;base64,`+encoded(200)+`\n"}`)
	f.Fuzz(func(t *testing.T, text, document string) {
		got := WithoutData(text, "p")
		if len(text) < minData && got != text {
			t.Errorf("%q became %q", text, got)
		}
		if gjson.Valid(document) && !gjson.Valid(WithoutData(document, "p")) {
			t.Errorf("no JSON any more: %q", WithoutData(document, "p"))
		}
	})
}
