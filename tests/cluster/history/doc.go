// Package history checks what clients of several hosts saw of logs and settings that all of them share.
// It knows nothing of how these are kept: it has the moments between which each call was under way, what
// it returned, and what there is at the end.
//
//	h, err := history.Create(dir)          // or New, which keeps nothing on the disk
//	l := h.List("s1/messages.jsonl")
//	l.Wrote(history.Write{ID: "a1-7", Parts: 3, Host: "a", Began: t0, Ended: h.Now(), Result: history.Stored})
//	l.Read(history.Look{Host: "b", Began: t1, Ended: h.Now(), Prefix: p})
//	l.Final("a", keys)                     // the keys of all records, in their order, on each host
//	problems := h.Check()
//
// All moments are of one clock, that of [History.Now].
//
// # A list
//
// A write adds one or more records, its parts, whose keys are those of [Key]. What has to hold:
//
//	lost      a write that was acknowledged is at the end, all parts of it
//	refused   one that was refused is not
//	doubled   no part is there twice
//	foreign   nothing is there that nobody wrote
//	torn      the parts of a write stand one behind the other, all of them or none
//	order     a write that was acknowledged before another one began stands before it
//	prefix    what a host shows is the beginning of what is there at the end
//	backwards what a host shows never gets shorter
//	own       what a host acknowledged, it shows
//	early     nothing is shown before its write began
//	differs   all hosts show the same at the end
//
// # A register
//
// A register has one value. That there is one order of all values which agrees with what every client saw
// is all that has to hold: a value comes behind those that somebody knew of when its write began, a host
// never goes back to an earlier one, and the last of those acknowledged is there at the end. A contradiction
// is a "cycle"; refused, foreign, early and differs are as above.
//
// # Files, from top to bottom
//
//	history.go   lists and registers of one run
//	disk.go      on the disk
//	list.go      the rules of a list
//	register.go  and of a register
//	write.go     what is common to both
package history
