package finds

import (
	"encoding/json"
	"testing"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/prefix"
)

// A pack of an earlier moment copied the findings of all later records, which took several times the memory limit.
func TestEarlierMomentCopiesNoLater(t *testing.T) {
	const batches, records = 10, 10
	all := &Finds{loaded: true, places: batches * records}
	for n := range batches {
		line, err := json.Marshal(Batch{
			Batch:   prefix.Batch{From: n*records + 1, To: (n + 1) * records},
			Version: derived.FindVersion,
			Found:   []findRecord{{At: n*records + 1, Found: []derived.Finding{{}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		all.lines = append(all.lines, line)
	}

	const moment = 45
	earlier := all.Without(ctxabi.Span{}, moment, nil)
	if earlier.places != 50 || len(earlier.lines) != 1 {
		t.Fatalf("the copy for message %d has %d records in %d batches", moment, earlier.places, len(earlier.lines))
	}
	var copied Batch
	if err := json.Unmarshal(earlier.lines[0], &copied); err != nil {
		t.Fatal(err)
	}
	if copied.To != 50 || len(copied.Found) != 5 {
		t.Errorf("the batch goes up to record %d and has findings in %d", copied.To, len(copied.Found))
	}
}
