// Package jobs records the imports that hooks request, so that an import can continue after its
// hook has answered. A [Job] is one transcript and the session it goes to.
//
//	dir, err := jobs.Open()
//	n, run, err := dir.Want(ctx, job)   // run: a held lock; start a process that inherits it
//	err = dir.Await(ctx, job.Key(), n)  // until request n is answered
//
//	err = jobs.At(path).Work(key, run, do, end) // the process
//
// Decisions: directory of the jobs: Open (dir.go). Worker of a job: the holder of NAME.run
// (jobs.go, Want). End of the work: Work runs do again if a request came during the last run.
// Failures kept for the next hook, and their limits: jobs.go (Failures, Later).
//
// Each request is answered by an import that began after it. A request outlives its process: Left
// finds jobs without a worker. Only do and end, which the caller of Work passes, touch a mount.
//
// A job has two files in the user's own directory. NAME.json is locked during each read or change.
// NAME.run is locked as long as a process works on the job. Both are removed when nothing is left.
//
// Files, from top to bottom:
//
//	dir.go   directory and file locks
//	jobs.go  requests, work, failures
package jobs
