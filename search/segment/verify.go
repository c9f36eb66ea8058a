package segment

import "errors"

// Verify reads all of a segment. It returns ErrDamaged for one that does not hold what was written.
func Verify(data []byte) error {
	r := Bytes(data)
	s, err := Open(r, int64(len(data)))
	if err != nil {
		return err
	}
	t, err := s.LoadRows(r)
	if err != nil {
		return err
	}
	for i := range s.Runs {
		of, total := &s.Runs[i], uint64(0)
		for doc := of.start; doc < of.End(); doc++ {
			total += uint64(t.Length(doc))
			if int(t.Tools(doc)) > len(s.Tools) {
				return Damaged("a record has tools that are not there")
			}
		}
		if total != of.total {
			return Damaged("the lengths of the records do not add up")
		}
	}
	var docs, counts []uint32
	for k := range s.dict {
		var failed error
		err := s.eachEntry(r, k, func(term uint64, e Entry) bool {
			if docs, counts, failed = s.Postings(r, e, docs[:0], counts[:0]); failed == nil && len(docs) != e.Records {
				failed = Damaged("a list does not have as many records as its count")
			}
			for i, doc := range docs {
				if e.inline == nil && (counts[i] > e.most || t.Length(doc) < e.shortest) {
					failed = Damaged("a list has a record that is beyond its bounds")
				}
			}
			return failed == nil
		})
		if err = errors.Join(err, failed); err != nil {
			return err
		}
	}
	return nil
}
