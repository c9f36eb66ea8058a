// Package packtest has histories for the tests of packs: logs in memory, sessions of several kinds, and
// generators that draw them, the hostile included. It does not know the compiler.
//
//	log      logs in memory, and sessions of a kind
//	history  both logs of a session
//	draw     what is drawn
//	golden   what was written down once
//	picture  images
package packtest
