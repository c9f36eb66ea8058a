package install

import (
	"fmt"
	"reflect"
)

// piece is what ctxfs has in one file of settings. The texts of files go in and out; a text that needs no change comes back as it is.
type piece interface {
	put(text []byte) ([]byte, error)  // with the piece, in place of an older one
	take(text []byte) ([]byte, error) // without the piece, also one of an older ctxfs
	same(a, b []byte) bool            // whether two texts mean the same
	own(text []byte) ([]entry, error) // what of it is there, also of an older ctxfs
}

// editJSON changes settings with do, and returns them as they are where that changed nothing. What it returns parses.
func editJSON(text []byte, do func(*document) error) ([]byte, error) {
	d, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	was, err := d.plain()
	if err != nil {
		return nil, err
	}
	if err := do(d); err != nil {
		return nil, err
	}
	edited := d.text()
	again, err := parseJSON(edited)
	if err != nil {
		return nil, fmt.Errorf("the change would break it: %w", err)
	}
	now, err := again.plain()
	if err != nil {
		return nil, fmt.Errorf("the change would break it: %w", err)
	}
	if reflect.DeepEqual(was, now) {
		return text, nil
	}
	return edited, nil
}

// sameJSON reports whether two texts of settings mean the same, but for objects and arrays that are empty.
func sameJSON(a, b []byte) bool {
	var plain [2]any
	for n, text := range [][]byte{a, b} {
		d, err := parseJSON(text)
		if err == nil {
			var v map[string]any
			v, err = d.plain()
			plain[n] = pruned(v)
		}
		if err != nil {
			return false
		}
	}
	return reflect.DeepEqual(plain[0], plain[1])
}

// pruned returns a value without the objects and arrays in it that are empty, nil if it is such a one.
func pruned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, in := range v {
			if v[name] = pruned(in); v[name] == nil && in != nil {
				delete(v, name)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		kept := []any{}
		for _, in := range v {
			if p := pruned(in); p != nil || in == nil {
				kept = append(kept, p)
			}
		}
		if len(kept) == 0 {
			return nil
		}
		return kept
	}
	return v
}
