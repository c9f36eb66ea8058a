// Package adaptertest supports tests of formats: sessions in memory that import and export
// ([Session], session.go), a comparison as canonical JSON ([CanonicalEqual], canonical.go), and
// [RunFormat] (format.go), which checks the promises of a format on a directory of samples.
//
// It imports adapter, so tests that use it belong to package adapter_test.
package adaptertest
