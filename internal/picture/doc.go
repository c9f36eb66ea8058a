// Package picture knows the limits of model providers for images: types, sizes, and counts.
//
// The figures come from the providers' documentation. If sources differ, the stricter figure
// applies:
//
//   - Anthropic, "Vision" and "Errors": JPEG, PNG, GIF, and WebP; 5 MB an image, measured in base64; 8,000 pixels an edge, 2,000 in a
//     request of more than 20 images; 100 images and 32 MB a request.
//   - OpenAI, "Images and vision": PNG, JPEG, WebP, and GIF without animation; 500 images and 50 MB a request.
//   - Google, "Image understanding" of the Gemini API: PNG, JPEG, WebP, HEIC, and HEIF; 20 MB a request; 900 images, the least of its models.
//
// # Files, from top to bottom
//
//	choose.go   the images of a request
//	limits.go   what each provider accepts
//	picture.go  what the bytes of an image are
//	webp.go     the header of WebP
package picture
