package locate

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTheSettingIsOneAbsolutePath(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "\n \n# /a\n": "", "/ctx": "/ctx", "/ctx\r\n": "/ctx", " # mine\n\n\t/mnt/my ctx \n": "/mnt/my ctx", "/a#b\n": "/a#b",
		"ctx\n": "!", "~/ctx\n": "!", "/a\n/b\n": "!", "/a\x00b\n": "!", "/" + strings.Repeat("a", maxSetting): "!",
	} {
		got, err := parseSetting(text)
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%.40q: %q, want %q (%v)", text, got, want, err)
		}
	}
}

func FuzzSetting(f *testing.F) {
	f.Add("# mine\n/ctx\n")
	f.Fuzz(func(t *testing.T, text string) {
		point, err := parseSetting(text)
		if point != "" && (err != nil || !filepath.IsAbs(point) || strings.ContainsAny(point, "\x00\n")) {
			t.Errorf("%q: %v", point, err)
		}
	})
}
