// Package gc decides what derived content may go. For now it holds only the
// reading of gc.policy's meaning; history is never touched by anything here.
package gc
