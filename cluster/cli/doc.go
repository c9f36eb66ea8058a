// Package cli has the verb cluster and the parts of other verbs that need a cluster: the flags of
// mount, session publish, session withdraw, and a check of doctor. It registers the verbs with
// [Register] and the flags of mount with fs/cli.
//
// It may not import agents or pack. views/doctor is the one view that it imports, for its check.
//
// # Files, from top to bottom
//
//	verbs.go    all verbs of this package, and cluster
//	mount.go    the cluster of a mount
//	publish.go  session publish, session withdraw
//	backup.go   cluster backup, cluster restore
//	heal.go     cluster heal, cluster scrub
//	serve.go    cluster serve
//	tend.go     upkeep of journals and objects while serve runs
//	status.go   cluster status
//	doctor.go   the check of doctor
//	cluster.go  cluster init, cluster join, cluster token
package cli
