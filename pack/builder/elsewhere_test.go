package builder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// What ctxfs writes has sorted keys and nothing in it that depends on when and where it is written.
func TestSameHistoryElsewhereAndLater(t *testing.T) {
	make := func(later bool) map[string][]byte {
		d := newDesk(t, Config{Budget: 3000})
		d.write("context/pinned/rules.md", "Never delete the ledger.\n")
		d.write("context/facts.jsonl", `{"id":"f1","text":"CI runs Go 1.26","source":"messages:3","at":1.50,"b":{"z":1,"a":2}}`+"\n")
		d.write("../../tools.json", definedTools)
		d.write("../../memory/a.md", "# Modules\n\nModule m is broken.\n")
		for i, r := range packtest.LongLog(80).Records() {
			d.append(r)
			if i%20 == 10 {
				d.event(fmt.Appendf(nil, `{"type":"tool_call","id":"e%d","name":"bash","arguments":"{\"z\": 1.50, \"a\": 1e3}"}`, i))
				d.event(fmt.Appendf(nil, `{"type":"tool_result","id":"e%d","content":"done"}`, i))
			}
		}
		if later {
			err := filepath.WalkDir(filepath.Dir(d.dir), func(path string, _ os.DirEntry, err error) error {
				if err != nil {
					return err
				}
				then := time.Now().Add(-90 * 24 * time.Hour)
				return os.Chtimes(path, then, then)
			})
			if err != nil {
				t.Fatal(err)
			}
			d.restart(Config{Budget: 3000})
		}
		b := d.pack()
		out := map[string][]byte{"pack.md": b.Markdown, "pack.json": b.JSON(), "pack.report.md": b.Report}
		for _, f := range native.Formats {
			data, err := d.b.Native(d.x, b, f)
			if err != nil {
				t.Fatal(err)
			}
			out[string(f)] = data
		}
		for name, data := range out {
			if strings.Contains(string(data), filepath.Dir(d.dir)) {
				t.Errorf("%s names the directory of the store", name)
			}
			// The id names this very session, and stands in no prompt.
			if without := bytes.ReplaceAll(data, []byte(b.ID), []byte("id")); name == "pack.json" || name == "pack.report.md" {
				out[name] = without
			} else if len(without) != len(data) {
				t.Errorf("%s holds the id of the pack", name)
			}
		}
		return out
	}
	here, there := make(false), make(true)
	for name, data := range here {
		if string(data) != string(there[name]) {
			i := commonStart(string(data), string(there[name]))
			t.Errorf("%s differs from byte %d on:\n%s\n---\n%s", name, i, shortened(string(data[max(0, i-200):])), shortened(string(there[name][max(0, i-200):])))
		}
		if name != "pack.md" && name != "pack.report.md" {
			if key := unsorted(json.NewDecoder(bytes.NewReader(data))); key != "" {
				t.Errorf("%s: %s", name, key)
			}
		}
	}
}

// unsorted reads one JSON value and gives the first key that stands behind a greater one.
func unsorted(d *json.Decoder) string {
	d.UseNumber()
	token, err := d.Token()
	if err != nil {
		return err.Error()
	}
	open, ok := token.(json.Delim)
	if !ok {
		return ""
	}
	last := ""
	for d.More() {
		if open == '{' {
			token, err := d.Token()
			if err != nil {
				return err.Error()
			}
			key := token.(string)
			if key <= last && last != "" {
				return fmt.Sprintf("the key %q stands behind %q", key, last)
			}
			last = key
		}
		if wrong := unsorted(d); wrong != "" {
			return wrong
		}
	}
	if _, err := d.Token(); err != nil {
		return err.Error()
	}
	return ""
}
