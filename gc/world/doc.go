// Package world is what the collector of package gc looks at and removes from: the sessions of a store, the packs that a
// builder remembers, and what is open in a mount.
//
// It is a package of its own so that gc imports neither session nor pack: its plan is a function that a test can call
// with a world of its own making. The arrows go fs → gc/world → gc and cmd/ctxfs → gc/world. Nothing here imports
// go-fuse, so that `ctxfs gc` needs no mount.
package world
