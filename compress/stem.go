package compress

import "bytes"

// Stem takes the commonest English endings off a word in lower case, so that retry, retries,
// retried and retrying are one term. It works in place and returns the part of w that is left.
// It is light: it joins forms of one word, seldom different words, and leaves short words and
// those with anything but ASCII letters as they are.
func Stem(w []byte) []byte {
	for _, c := range w {
		if c < 'a' || c > 'z' {
			return w
		}
	}
	w = plural(w)
	w = pastOrGerund(w)
	if len(w) > 5 && (ends(w, "sion") || ends(w, "tion")) {
		w = w[:len(w)-3] // configuration: configurat
	}
	if len(w) > 3 && ends(w, "e") && !ends(w, "ee") {
		w = w[:len(w)-1]
	}
	if len(w) > 6 && ends(w, "at") {
		w = w[:len(w)-2] // configurat, configure: configur
	}
	if len(w) > 3 && ends(w, "y") && !vowel(w[len(w)-2]) {
		w[len(w)-1] = 'i' // as in retri, of retries
	}
	return w
}

// plural takes a plural's s off.
func plural(w []byte) []byte {
	switch {
	case len(w) < 4 || !ends(w, "s") || ends(w, "ss") || ends(w, "us") || ends(w, "is"):
		return w
	case len(w) > 4 && ends(w, "ies"):
		return append(w[:len(w)-3], 'y')
	case ends(w, "sses"), ends(w, "xes"), ends(w, "ches"), ends(w, "shes"), ends(w, "zes"):
		return w[:len(w)-2]
	}
	return w[:len(w)-1]
}

// pastOrGerund takes ed and ing off where a word is left.
func pastOrGerund(w []byte) []byte {
	var root []byte
	switch {
	case len(w) > 4 && ends(w, "ied"):
		return append(w[:len(w)-3], 'y')
	case ends(w, "eed"):
		return w
	case ends(w, "ed"):
		root = w[:len(w)-2]
	case ends(w, "ing"):
		root = w[:len(w)-3]
	}
	if len(root) < 3 || !bytes.ContainsAny(root, "aeiouy") {
		return w
	}
	n := len(root)
	if c := root[n-1]; c == root[n-2] && !vowel(c) && c != 'l' && c != 's' && c != 'z' {
		return root[:n-1] // stopped: stop
	}
	return root
}

func ends(w []byte, ending string) bool {
	return len(w) >= len(ending) && string(w[len(w)-len(ending):]) == ending
}

func vowel(c byte) bool { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' }
