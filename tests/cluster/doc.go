// Package cluster tests engines, and all that stands on them, against three real servers.
package cluster
