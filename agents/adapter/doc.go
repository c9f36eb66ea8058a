// Package adapter turns the transcripts of other programs into records of a
// session, and records back into transcripts.
//
// # What it promises
//
// A [Format] reads one kind of transcript and writes it. What was read of a
// format and is written in the same one is equal as canonical JSON: whatever
// a record has no field for stands, as it was, in the record's own "import"
// field, the [Stamp]. What is written in another format keeps what was said,
// called and answered; what that format cannot carry is named in a [Loss],
// never dropped silently.
//
// Strings keep their bytes: arguments of calls, signatures of thinking,
// escapes that are no characters. Numbers keep their digits.
//
// Importing is resumable. Every source record has an identity: its own id, or
// [SourceID] of its bytes. The stamps in a session say which of them it has
// already, so that reading a transcript that has grown adds what is new and
// nothing else, with no state beside the session itself.
//
// A damaged transcript is read as far as it makes sense: a torn last line, a
// line that is not JSON, a cycle in the parents or an id that comes twice are
// reported as losses, and what stands around them is imported. Nothing here
// fails because of what a transcript says; only reading and writing can fail.
//
// Of programs with hooks a format also says what the model of a transcript has
// before it ([Format.Context]), so that a hook repeats nothing.
//
// # What a record looks like
//
//	{"role":"assistant","content":[...],"id":"…","ts":"…",
//	 "import":{"format":"claude-code","ids":["5f1c…"],"at":[12],"rest":{…}}}
//
// Messages go to messages.jsonl in a form that ctxabi decodes: the foreign
// content as it stands where that is one of the accepted forms, else put into
// one. Whatever is not a message is an event of events.jsonl of type
// "<format>/<type there>", with the record in its stamp's rest.
// Things with a meaning of their own here become events that ctxfs knows.
//
// A chain that is a conversation of its own, such as a sub-agent's, becomes a
// child session; see [Record.Chain]. Images and other data in base64 stay in
// their parts: the session shows each as a blob by itself (context/dedup/blob).
//
// The room knows no disk and no mount: `ctxfs import` and `ctxfs export` do,
// through [Input], [Output] and [Source].
//
// # Files, from top to bottom
//
// Out of a session:
//
//	turns.go     what was said in a session, in the words of no format
//	dialogue.go  what a format needs that the session does not come from
//	accepted.go  data that a provider accepts
//	parts.go     the parts of a content
//	tools.go     what a request holds beside its messages
//
// Into a session:
//
//	context.go   what a model has before it
//	sources.go   records that are made of records of a transcript
//	marks.go     things that are said, wherever they come again
//	known.go     what the session has already
//	kept.go      what a session has no form for
//	lift.go      what stands in the record already is left out of its stamp
//	tree.go      a JSON value, taken apart as far as it is looked into
//	unread.go    texts of a transcript that no message holds
//	twice.go     keys that come twice
//	mend.go      a document that is cut off
//	lines.go     a transcript line by line
//
// Which format it is:
//
//	sniff.go     the messages of OpenAI's and Anthropic's APIs
//	shape.go     the keys at the beginning of a transcript
//
// What all use:
//
//	adapter.go   formats, their input and output
//	names.go     names that several formats know
//	tally.go     losses by their kind
//	stamp.go     where a record comes from
//	object.go    JSON objects that keep their order and their bytes
//	halves.go    half a surrogate pair in a key
package adapter
