// Package bench measures a cluster beside what it is made of: three servers and two mounts on this machine, and
// a bare client of the same servers that does the same, in turns or at the same time. So the figures of one run
// are about the cluster, and not about the machine or what else it has to do, and their ratios are the goals.
//
//	make bench-cluster               the goals, met or missed; some minutes
//	make bench-cluster BENCH=smoke   the same in a short form, which says whether all of it still works
//	make bench-cluster ONLY=large    what large_test.go has alone; CLUSTER_LARGE=100 makes its session one of 100 MB
//
// Nothing fails because it is slow.
//
// # Files, from top to bottom
//
//	bench_test.go    what is measured, and the table
//	append_test.go   appends of one host
//	hosts_test.go    appends of two hosts to one session
//	other_test.go    what the other host sees, and how it catches up
//	large_test.go    a session of 1 GB on a host that never saw it
//	leader_test.go   elections
//	rig_test.go      servers, mounts, a bare client
package bench
