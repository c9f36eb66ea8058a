// Package peerstest connects the hosts of one process, for tests of code that uses package peers.
package peerstest
