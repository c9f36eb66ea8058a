package adapter

import (
	"bytes"
	"encoding/json"
)

// Mended returns the JSON value that a document which is cut off begins with:
// without its last element in a list or object at most depth levels deep, and
// closed. lost is how many of its bytes are not in there; ok is false when nothing can be made of it.
func Mended(doc []byte, depth int) (value []byte, lost int, ok bool) {
	var open []byte // what is to be closed
	end, level := 0, 0
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; c {
		case '"':
			for i++; i < len(doc) && doc[i] != '"'; i++ {
				if doc[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			open = append(open, c+2)
			if len(open) <= depth {
				end, level = i+1, len(open)
			}
		case '}', ']':
			if len(open) == 0 || open[len(open)-1] != c {
				return nil, 0, false
			}
			open = open[:len(open)-1]
			if len(open) <= depth {
				end, level = i+1, len(open)
			}
		case ',':
			if len(open) <= depth {
				end, level = i, len(open)
			}
		}
		if len(open) == 0 && end > 0 {
			break
		}
	}
	if level == 0 || level > len(open) {
		return nil, 0, false
	}
	value = bytes.Clone(doc[:end])
	for i := level - 1; i >= 0; i-- {
		value = append(value, open[i])
	}
	return value, len(doc) - end, json.Valid(value)
}
