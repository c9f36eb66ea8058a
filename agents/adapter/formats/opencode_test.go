package formats_test

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
)

func TestOpencode(t *testing.T) { adaptertest.RunFormat(t, "opencode", "testdata/opencode") }

func FuzzOpencode(f *testing.F) { fuzzFormat(f, "opencode") }

// A session that is exported again after each message brings what is new, and an answer only when it is finished.
func TestOpencodeSessionGrows(t *testing.T) {
	name := "ses_dfaa6ee38ffes7O3GaUg2uhwoq.json"
	whole := sample(t, "opencode", name)
	o, err := adapter.ParseObject(whole)
	if err != nil {
		t.Fatal(err)
	}
	messages := o.Array("messages")
	var once, grown adaptertest.Session
	once.Import(t, format(t, "opencode"), name, whole)
	for n := range messages {
		doc := o.With("messages", messages[:n])
		if n == len(messages)-1 { // while the model still writes it
			m, _ := adapter.ParseObject(messages[n])
			m = m.WithAt("info.time", m.Object("info").Object("time").Without("completed")).With("parts", adapter.Raw(m.Array("parts")[:1]))
			doc = o.With("messages", append(messages[:n:n], adapter.Raw(m)))
		}
		_, lost := grown.Import(t, format(t, "opencode"), name, adapter.Raw(doc))
		if got := len(lost) == 1 && strings.Contains(lost[0].What, "not finished"); got != (n == len(messages)-1) {
			t.Errorf("%d messages: losses %v", n, lost)
		}
	}
	grown.Import(t, format(t, "opencode"), name, whole)
	if a, b := outline(&once), outline(&grown); a != b || !strings.Contains(a, `call bash {"command":"ls","description":"List"}`) || !strings.Contains(a, `result "File not found: /home/me/app/nothere.txt" true`) {
		t.Errorf("at once\n%s\nas it grew\n%s", a, b)
	}
	data, lost := grown.Export(t, format(t, "opencode"))
	if diff := adaptertest.CanonicalEqual(whole, data); diff != "" || len(lost) > 0 {
		t.Errorf("the export is another session: %s %v", diff, lost)
	}
}
