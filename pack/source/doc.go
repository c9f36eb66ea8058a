// Package source gathers the inputs of packs: the recipe, the files that it names in the agent's home and outside of it, the
// settings of a session, its children and both of its logs, without secrets where these are not to be shown. It is the half that
// reads disks; package pack compiles what it finds.
//
// All of a home is opened beneath its descriptor: a link may lead about within the home, and never out of it. What did not change
// since the last scan is not read again.
//
// # Files, from top to bottom
//
//	gatherer.go      Gatherer and its settings
//	list.go          the files of each source
//	session.go       what is gathered of a session
//	mask.go          inputs without secrets
//	unchanged.go     whether anything changed since
//	outside_read.go  files of the workspace
//	trust.go         what may run as the owner
//	batches.go       what reading taught, kept in batches
//	trust_held.go    scripts as they were looked at
//	decided.go       decisions that events record
//	errors.go        failures that events tell of
//	logs.go          both logs as packs show them
//	recipe_file.go   the recipe of a session
//	home_file.go     a file of an agent's home
//	home.go          an agent's home
//	home_dir.go      its directories
//	sign.go          identity of a file
//	variables.go     variables of a recipe
//	summarizer.go    the summarizer as a source
//	children.go      results of children
//	readable.go      records with stand-ins for damaged ones
//	outside.go       workspace and generators: interfaces
package source
