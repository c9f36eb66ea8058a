//go:build cgo

package main

import _ "github.com/mattn/go-sqlite3"

func init() { drivers["mattn"] = driver{"sqlite3", "?_journal_mode=WAL&_synchronous=%s"} }
