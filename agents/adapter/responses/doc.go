// Package responses has the format of the bodies of requests to OpenAI's Responses: items, and
// what the model is to do with them.
//
// Files, from top to bottom:
//
//	responses.go  bodies and items to records
//	export.go     the way back
package responses
