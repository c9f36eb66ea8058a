// Package kept has journals that versions of ctxfs have written, and one that a later version might write: this version has
// to read them for ever, or to refuse what it does not understand.
//
//	for _, j := range kept.Read(t, kept.Present) {
//		j.Put(t, engine)
//	}
//
// Each version of journals has a file testdata/NAME.jsonl with an entry in each line, and testdata/NAME.want with what hosts
// show of them. What is there stays. Once journal.Version, ctxabi.FormatVersion or a version of names is raised, Present becomes a new name, and
// this makes its files:
//
//	CTXFS_UPDATE=1 go test -count=1 ./tests/cluster/kept
package kept
