package pack

import "testing"

// Builds before a compaction read most of the records that it will compact, a few per turn, so the
// turn with the compaction reads few records. The limit includes the folded records, which each
// compaction of this history reads.
func TestACompactionReadsFewRecords(t *testing.T) {
	pure(t)
	log, mm := logOf(), NewMemo()
	compactions, all, reads := 0, 0, 0
	for _, r := range codingLog(400).Records()[:800] {
		log.Append(r)
		before, in := log.Reads, inputOf(log, 16_000)
		b, err := CompileWith(&in, mm)
		if err != nil {
			t.Fatal(err)
		}
		if b.Compactions > compactions && compactions > 0 {
			all++
			reads += log.Reads - before
		}
		compactions = b.Compactions
	}
	if all < 20 || reads > 310*all {
		t.Errorf("%d compactions read %d records", all, reads)
	}
}
