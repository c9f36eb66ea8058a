// Package soak runs programs on several mounts of one cluster for a long time, while mounts, servers and links
// between them break at random, and holds what the programs saw against what there is in the end.
//
//	make soak-cluster DURATION=62m
//	SOAK_DIR=/var/tmp/soak make soak-cluster      # runs add up there
//
// Programs use plain files alone: they append records to logs of sessions, most of which all hosts share, in
// writes of one record and of many; they set a setting, read logs and packs, and make sessions under the same
// names. Some sessions are written to rarely, and a maintainer trims, parks and collects as early as it can, so
// that these are parked and brought back again and again. What each call returned is noted with the moments
// between which it was under way. In the end all that was broken is repaired, all hosts have to show the same
// bytes, packs and settings, and package history says whether every client was told the truth.
//
// # Files, from top to bottom
//
//	soak_test.go     one run, and what it prints
//	faults_test.go   what breaks
//	end_test.go      all is repaired, and looked at
//	clients_test.go  programs that write
//	readers_test.go  and those that read
//	tender_test.go   trims, parks and collects meanwhile
//	fleet_test.go    three servers and their mounts
package soak
