// Package search finds records again by what they say. It promises:
//
//   - An index of each session's records, in .ctxfs/search of the session: made when somebody asks, brought up to date by what is new alone,
//     rebuilt where it is lost or damaged. Appends and packs never wait for it.
//   - Ranked excerpts, word by word, each with the record it stands in, within a number of tokens.
//   - The same for all sessions of an agent and of an owner, and never for those of another owner.
//
// Searches fail with ctxabi.ErrMalformed when the query is wrong, with the error of the context when that ends, and with ctxabi.ErrIO when the
// records cannot be read. An index that is damaged, or not made yet, is no error: the [Result] says what was not looked at.
package search
