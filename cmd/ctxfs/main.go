// Command ctxfs mounts a store of agent sessions as a filesystem and works on
// stores from a shell. Each verb has a file of its own.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
