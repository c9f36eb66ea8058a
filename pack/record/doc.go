// Package record reads single records of a session and shows them as packs do: framed, shortened, in parts. A [Records] is a
// snapshot of a log; [Merged] is that of both logs in the order of their arrival.
//
// # Files, from top to bottom
//
//	portion.go       the parts of a record
//	json.go          JSON in texts
//	excerpt.go       a record in short
//	replies.go       what users answer by question tools
//	event.go         tool events
//	read.go          messages
//	shorten.go       records that are cut
//	image_tokens.go  what images cost
//	image_mark.go    what stands in place of an image
//	image.go         images
//	unread.go        records that cannot be read
//	framing.go       headings and fences
//	timeline.go      both logs in one order
//	records.go       a log
package record
