// Package redacttest generates random texts with secrets for tests of redaction (seeds.go). They
// are generated at run time, so that the repository contains no secret. Only tests import it.
package redacttest
