// Package source gathers the inputs of packs: the recipe, the files that it names in the agent's home and outside of it, the
// settings of a session, its children and both of its logs, without secrets where these are not to be shown. It is the half that
// reads disks; package pack compiles what it finds.
//
// All of a home is opened beneath its descriptor: a link may lead about within the home, and never out of it. What did not change
// since the last scan is not read again.
//
// Files, callers above what they call:
//
//	gatherer      Gatherer and its settings
//	list          the files of each source
//	session       what is gathered of a session
//	mask          inputs without secrets
//	unchanged     whether anything changed since
//	outside_read  files of the workspace
//	trust         what may run as the owner
//	batches       what reading taught, kept in batches
//	trust_held    scripts as they were looked at
//	decided       decisions that events record
//	errors        failures that events tell of
//	logs          both logs as packs show them
//	recipe_file   the recipe of a session
//	home_file     a file of an agent's home
//	home          an agent's home
//	home_dir      its directories
//	sign          identity of a file
//	variables     variables of a recipe
//	summarizer    the summarizer as a source
//	children      results of children
//	readable      records with stand-ins for damaged ones
//	outside       workspace and generators: interfaces
package source
