// Package mounts runs real mounts of a cluster for tests, each with a store of its own:
//
//	c := servers.Start(t)
//	hosts := mounts.Start(t, c, "a", "b")
//	s := hosts[0].Session(t, 0, "coder", "s1")      // as of any harness.Mount
//	hosts[1].Await(t, s)                            // the other host has it, too
//	hosts[0].Kill()
//	hosts[0].Again(t)                               // however long its name is taken for living
package mounts
