// Command ctxfs mounts a store of agent sessions as a filesystem and works on it from a shell.
package main

func main() {}
