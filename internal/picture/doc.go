// Package picture decides which images a request to a model provider may carry. Pack and adapters
// give it the images of a conversation and get the reason for each image that must be omitted.
//
//	base64 of an image → Inspect (picture.go) → type, size, frames, problem
//	images, provider   → Choose (choose.go)   → Refuses (limits.go) → reason to omit, or ""
//
// # Decisions
//
//   - types, sizes, and counts that each provider accepts: the table in limits.go
//   - which images go if a request exceeds a limit: choose.go. The oldest go, down to half of the
//     limit, so that a new record rarely changes older images
//   - three quarters of a request body are for images: imagesOf in limits.go
//   - type of an image from its first bytes, and size: picture.go; header of WebP: webp.go
//
// # Sources of the limits
//
// If the documentation of a provider differs, the stricter figure applies:
//
//   - Anthropic, "Vision" and "Errors": JPEG, PNG, GIF, WebP; 5 MB an image in base64; 8,000 pixels
//     an edge, 2,000 in a request of more than 20 images; 100 images and 32 MB a request
//   - OpenAI, "Images and vision": PNG, JPEG, WebP, GIF without animation; 500 images and 50 MB a
//     request
//   - Google, "Image understanding" of the Gemini API and of Vertex AI: PNG, JPEG, WebP, HEIC,
//     HEIF; 7 MB an image, 20 MB a request; 900 images, the least of its models
//
// A transcript of a program that works with several providers has the limits of [Any].
//
// # Files, from top to bottom
//
//	choose.go   images of a request
//	limits.go   limits of each provider
//	picture.go  description of an image from its bytes
//	webp.go     header of WebP
package picture
