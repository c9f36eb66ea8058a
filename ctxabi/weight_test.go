package ctxabi_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
)

// Weight may be far above the exact count on odd texts, which then take more
// of the journal than they need; far below it the pack would overflow and
// have to be compiled again.
func TestWeightOfHostileTexts(t *testing.T) {
	counter, err := tokens.For(tokens.DefaultEncoding)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range hostileTexts() {
		exact, weight := counter.Count(text), ctxabi.Weight(text)
		ratio := float64(weight) / float64(exact)
		t.Logf("%-16s exact %6d weight %6d ratio %.2f", name, exact, weight, ratio)
		if exact > 100 && ratio < 0.78 {
			t.Errorf("%s: weight %d is far below the exact count %d", name, weight, exact)
		}
	}
}

func TestWeightOfRealSessions(t *testing.T) {
	counter, err := tokens.For(tokens.DefaultEncoding)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(testdata(), "sessions", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("no real sessions here; set CTXFS_TESTDATA")
	}
	exact, weight := map[string]int{}, map[string]int{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		set := filepath.Base(filepath.Dir(file))
		for line := range bytes.Lines(data) {
			m := ctxabi.DecodeMessage(bytes.TrimSpace(line))
			texts := []string{m.Text}
			for _, c := range m.Calls {
				texts = append(texts, c.Name, c.Arguments)
			}
			for _, text := range texts {
				exact[set] += counter.Count(text)
				weight[set] += ctxabi.Weight(text)
			}
		}
	}
	for set := range exact {
		ratio := float64(weight[set]) / float64(exact[set])
		t.Logf("%-16s exact %7d weight %7d ratio %.3f", set, exact[set], weight[set], ratio)
		if ratio < 1 || ratio > 1.2 {
			t.Errorf("%s: the weight is %.3f of the exact count, want 1.00 to 1.20", set, ratio)
		}
	}
}

func BenchmarkWeight(b *testing.B) {
	text := strings.Repeat("func (l *Log) Append(ctx context.Context, b Batch) error { return nil } // one record\n", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ctxabi.Weight(text)
	}
}

func testdata() string {
	if dir := os.Getenv("CTXFS_TESTDATA"); dir != "" {
		return dir
	}
	return "../../shared/data"
}

func hostileTexts() map[string]string {
	r := rand.New(rand.NewSource(1))
	raw := make([]byte, 6000)
	r.Read(raw)
	from := func(alphabet string) string {
		var b strings.Builder
		for range 5000 {
			b.WriteByte(alphabet[r.Intn(len(alphabet))])
		}
		return b.String()
	}
	runes := func(n, low, span int) string {
		var b strings.Builder
		for range n {
			b.WriteRune(rune(low + r.Intn(span)))
		}
		return b.String()
	}
	escapes := func() string {
		var b strings.Builder
		for range 1000 {
			fmt.Fprintf(&b, "\\u%04x", r.Intn(1<<16))
		}
		return b.String()
	}
	const lower = "abcdefghijklmnopqrstuvwxyz"
	return map[string]string{
		"base64":         base64.StdEncoding.EncodeToString(raw),
		"hex":            fmt.Sprintf("%x", raw),
		"HEX":            fmt.Sprintf("%X", raw),
		"escapes":        escapes(),
		"lower":          from(lower),
		"upper":          from(strings.ToUpper(lower)),
		"mixed":          from(lower + strings.ToUpper(lower)),
		"alphanumeric":   from(lower + "0123456789"),
		"two letters":    from("xQ"),
		"letters, _":     from("ab_"),
		"punctuation":    from("!@#$%^&*()[]{}<>?/\\|~`;:'\",.+=-"),
		"digits, blanks": from("0123456789 "),
		"words":          from(lower + "      "),
		"controls":       from("\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x10\x11"),
		"terminal":       strings.Repeat("\x1b[31m\x01\x02\x03", 500),
		"letter, digit":  strings.Repeat("q7", 2500),
		"letter, blank":  strings.Repeat("q ", 2500),
		"one a":          strings.Repeat("a", 5000),
		"one z":          strings.Repeat("z", 5000),
		"one 0":          strings.Repeat("0", 5000),
		"one -":          strings.Repeat("-", 5000),
		"blanks":         strings.Repeat(" ", 50000),
		"newlines":       strings.Repeat("\n", 5000),
		"blank lines":    strings.Repeat(" \n", 2500),
		"CRLF":           strings.Repeat("a\r\n", 1500),
		"Chinese":        strings.Repeat("你好世界，今天天气很好。我们去公园散步吧，然后吃一顿饭。", 40),
		"Japanese":       strings.Repeat("これはテストです。トークン数を数えます。漢字とかなが混ざっています。", 40),
		"Korean":         strings.Repeat("안녕하세요 세계. 오늘 날씨가 좋습니다. 공원에 산책하러 갑시다. ", 40),
		"Russian":        strings.Repeat("Привет мир, сегодня хорошая погода, пойдём гулять в парк. ", 40),
		"Arabic":         strings.Repeat("مرحبا بالعالم اليوم الطقس جميل جدا ", 40),
		"Thai":           strings.Repeat("สวัสดีชาวโลก วันนี้อากาศดีมาก ", 40),
		"German":         strings.Repeat("Die Geschwindigkeitsbegrenzung wurde überprüft. ", 40),
		"ideographs":     runes(3000, 0x4e00, 20000),
		"accents":        runes(3000, 0xc0, 64),
		"combining":      runes(2000, 0x300, 80),
		"Syriac to N'Ko": runes(2000, 0x700, 0xff),
		"private use":    runes(2000, 0xe000, 6000),
		"beyond the BMP": runes(2000, 0x20000, 40000),
		"emoji":          runes(1500, 0x1f300, 700),
		"families":       strings.Repeat("👨‍👩‍👧‍👦", 200),
		"minified JSON":  strings.Repeat(`{"id":12345,"name":"foo","tags":["a","b"],"ok":true,"price":12.5},`, 60),
	}
}
