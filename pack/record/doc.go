// Package record reads single records of a session and shows them as packs do: framed, shortened, in parts. A [Records] is a
// snapshot of a log; [Merged] is that of both logs in the order of their arrival.
//
// Files, callers above what they call:
//
//	portion       the parts of a record
//	excerpt       a record in short
//	event         tool events
//	read          messages
//	shorten       records that are cut
//	image_tokens  what images cost
//	image_mark    what stands in place of an image
//	image         images
//	unread        records that cannot be read
//	framing       headings and fences
//	timeline      both logs in one order
//	records       a log
package record
