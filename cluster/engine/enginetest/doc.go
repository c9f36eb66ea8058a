// Package enginetest tests engines: [Run] what each of them has to keep of the contract of package
// engine, and a [Writer] with a [History] whether records come to stand exactly once, whatever happens
// to hosts, servers and links meanwhile. Nothing here knows how an engine works.
//
//	enginetest.Run(t, enginetest.Rig{Host: …, Maintenance: …})
//
//	w := enginetest.NewWriter(e, subject, "a")
//	history.Do(ctx, w, "key")         // as often as wanted, from many goroutines with a writer each
//	history.Check(journal)            // what ends up in the journal, read with Journal
//
// # Files, from top to bottom
//
//	suite.go     Run
//	appends.go   appends, conflicts and ids
//	reads.go     reads, feeds and trims
//	contents.go  objects, rights and attestations
//	history.go   what was done, and whether the journal agrees
//	writer.go    records into a journal, exactly once
//	helpers.go   what tests begin with
package enginetest
