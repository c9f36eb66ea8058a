// Package jobs keeps the imports that hooks ask for, so that one goes on after its hook has answered.
//
// A [Job] is one transcript that goes into one session. A hook asks with [Dir.Want], and starts a process of its own where
// none is at work on that job; the process calls [Dir.Work]. Of all who work at once on a job one imports, and
// each request is answered by an import that began after it: one that comes while an import runs makes that look once
// more at its end.
//
//	dir, err := jobs.Open()
//	n, run, err := dir.Want(ctx, job)   // run is held where somebody has to be started with it
//	err = dir.Await(ctx, job.Key(), n)  // until the n-th request is answered
//
//	err = jobs.At(path).Work(key, run, do, end) // the process
//
// # Promises
//
// A request outlives its process: [Dir.Left] finds what nobody works on. A failure is kept until a hook has read it
// ([Dir.Failures]). Nothing here touches a mount but what Work calls.
//
// # Files
//
// Each job has two in the directory, which is the user's own: NAME.json, which is locked while it is read and
// changed, and NAME.run, which is locked as long as somebody works on it. Both go when nothing is left to do or to say.
//
//	dir.go   the directory, and files that are locked
//	jobs.go  what is asked for, and doing it
package jobs
