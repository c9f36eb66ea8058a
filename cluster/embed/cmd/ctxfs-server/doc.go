// Command ctxfs-server is one server of a cluster of ctxfs hosts.
package main
