package eval

import "testing"

// The phrases that are held out of the work on the finders, planted into the session that comes with ctxfs.
func TestDerivedNotesHoldWhatWasPlanted(t *testing.T) {
	for _, half := range []Half{Tuned, HeldOut} {
		d, err := RunDerived(example(t), half, 20)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: recall %.3f, precision %.3f, size %.4f", half, d.Recall, d.Precision, d.Size)
		// Stale rows are allowed: a later value without an explicit change removes no statement.
		if d.Recall < .80 || d.Precision < .93 || d.Size > .05 {
			t.Errorf("%s: recall %.3f, precision %.3f, size %.4f, %d stale; lost: %+v", half, d.Recall, d.Precision, d.Size, d.Stale, d.Lost)
		}
	}
}
