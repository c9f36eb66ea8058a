package formats

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// What a format has no place for is said, whichever format it is.
func TestEveryExportSaysWhatItLeavesOut(t *testing.T) {
	line := []byte(`{"role":"user","content":[{"type":"text","text":"Look.","citations":[{"cited_text":"from a page"}]}],"name":"bob"}`)
	for _, f := range Formats() {
		if f.Export == nil {
			continue
		}
		var out bytes.Buffer
		var said strings.Builder
		src := &adapter.Source{Name: "s", Records: f.Arrange([]adapter.Record{{Line: line}}), Loss: func(l adapter.Loss) { io.WriteString(&said, l.What+"\n") }}
		if err := f.Export(src, &out); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		for in, loss := range map[string]string{"bob": "name of an author", "from a page": "citations"} {
			if !strings.Contains(out.String(), in) && !strings.Contains(said.String(), loss) {
				t.Errorf("%s has no %q, and says only\n%s", f.Name, in, said.String())
			}
		}
	}
}
