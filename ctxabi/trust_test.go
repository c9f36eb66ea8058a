package ctxabi

import (
	"errors"
	"strings"
	"testing"
)

func TestParseTrust(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	good := `{"path":"home/1/agent/a/context.yaml","sha256":"` + sum + `"}`
	rows, err := ParseTrust([]byte("\n" + good + "\n\n" + good))
	if err != nil || len(rows) != 2 || rows[0] != (Trust{"home/1/agent/a/context.yaml", sum}) {
		t.Errorf("%+v %v", rows, err)
	}
	for _, bad := range []string{
		`x`, `{}`, `null`, `[]`, good + good, strings.Replace(good, "home", "/home", 1), strings.Replace(good, "home", "../home", 1),
		strings.Replace(good, "agent", ".", 1), strings.Replace(good, "ab", "AB", 1), strings.Replace(good, "abab", "ab", 1),
		strings.Replace(good, `"path"`, `"paths"`, 1),
	} {
		if _, err := ParseTrust([]byte(good + "\n" + bad + "\n")); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
