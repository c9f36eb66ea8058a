// Package memorytest reads long sessions of daemons that have little memory.
package memorytest
