package redact

import (
	"encoding/base64"
	"math"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// What stands in the place of a secret where somebody writes about one, or where a program gets it from elsewhere.
var stands = lazy.Regexp(`(?i)^(?:` + strings.Join([]string{
	`\$\w+`, `\$\{[^}]*\}`, `\$\([^)]*\)?`, `\$\{\{.*`, `\{\{.*`, `\{[\w.!:-]*\}`, `%\(?\w*\)?s?%?`, `%[A-Z_]+%`, `@\w+@`,
	`<[^>]*>`, `\[[^\]]*\]`, `\*+`, `\.+`, `…+`, `-+`, `_+`, `#+`, `x+`, `•+`, `\?+`, `\d{1,3}`,
	`(?:your|my|the|some|a|an)[ _-].*`, `your\w*`, `\w*(?:placeholder|redacted|replace_?me|change_?me|todo|fixme)\w*`,
	`(?:true|false|null|none|nil|undefined|yes|no|on|off|empty|unset|set|hidden|masked|required|optional|default|example|dummy|invalid|missing|unknown)`,
	`(?:str|string|text|bool|boolean|int|integer|number|float|bytes?|any|object|void|char|secretstr|optional|input|type|field|value|key|name|file|prompt|env|self|this|token|secret|user|username|login|admin_?password|auth|bearer|basic)`,
	`(?:[\w-]*_)?(?:password|passwd|passphrase|passwort|pwd|pass)s?\d?`,
	`(?:process\.env|os\.environ|env|config|settings|self|this|args|opts|options|cfg|params|request|req|ctx|secrets|vault|data|body|user|props|credentials)[.\[].*`,
}, "|") + `)$`)

// code is how a value looks that is an expression of a program: a call, an index, a chain of names.
var code = lazy.Regexp(`^[A-Za-z_][\w]*(?:[.]|::|->)[A-Za-z_][\w]*(?:[.(\[:-]|$)|[(){}]|\[["'\w]|=>|&&|\|\|`)

// spoken is a name of a program: words and no digits.
var spoken = lazy.Regexp(`^[A-Za-z]+(?:[_.-][A-Za-z]+)*$`)

// isSecret reports whether a quoted value, or one of which is sure that it is a value, may be a password.
func isSecret(v string) bool {
	v = strings.Trim(v, "\"'`")
	return len(v) >= 4 && !stands().MatchString(v) && !isFile(v)
}

// isBareSecret reports the same of a value without quotes, which may be code or prose.
func isBareSecret(v string) bool {
	return isSecret(v) && len(v) >= 6 && !code().MatchString(v) && !spoken().MatchString(v) && mixed(v)
}

// file is a path.
var file = lazy.Regexp(`^(?:~|\.{0,2})/(?:[\w.@+-]+/)*[\w.@+-]*$|^[A-Za-z]:\\|^file:`)

func isFile(v string) bool {
	return file().MatchString(v) && (strings.Count(v, "/") > 1 || strings.HasPrefix(v, "~") || len(v) < 16)
}

// mixed reports whether a value has characters of two kinds, one of them no letter.
func mixed(v string) bool {
	letters, others := 0, 0
	for i := range len(v) {
		switch c := v[i] | 0x20; {
		case c >= 'a' && c <= 'z':
			letters++
		case c != ' ':
			others++
		}
	}
	return letters > 0 && others > 0 || others >= 8
}

// isCarried reports whether a value can be told from ordinary words, so that it is the secret wherever it stands.
func isCarried(v string) bool {
	if len(v) < 8 || len(v) > 512 || strings.ContainsAny(v, "\n") {
		return false
	}
	digits, symbols, letters := 0, 0, 0
	for i := range len(v) {
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			letters++
		case c != '.' && c != '-' && c != '_' && c != '/':
			symbols++
		}
	}
	return letters > 0 && digits+symbols > 0 && !date().MatchString(v)
}

var date = lazy.Regexp(`^\d{4}-\d\d-\d\d`)

// Names of things that look random and are public: they are found by the library's rule for keys of any kind, because a word
// like "key" stands near.
var public = lazy.Regexp(`^(?i:` + strings.Join([]string{
	`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, // UUID
	`sha(?:1|256|384|512)[-:].*`,
	`(?:toolu|call|msg|req|chatcmpl|run|thread|resp|item|fc|rs|ses|evt)[_-][\w-]+`, // ids of calls and answers
	`v?\d+(?:[.]\d+)+[\w.+-]*`,                                                     // versions
	`\d{4}-\d\d-\d\d(?:[T_ ][\d:.]+)?[\w:+-]*`,                                     // times
	`0x[0-9a-f]{1,16}`,
	`[\d.,:_-]+`,
	`[\w+/=]*eyJvcmlnaW4iO[\w+/=]*`, // origin trial tokens, which web pages publish
}, "|") + `)$`)

// hexOnly is a hash, where nothing says that it is a key.
var hexOnly = lazy.Regexp(`^(?:[0-9a-f]{7,128}|[0-9A-F]{7,128})$`)

// named are names that only a secret has.
var named = lazy.Regexp(`(?i)secret|passw|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|private[_-]?key|encryption[_-]?key|signing[_-]?key|bearer|credential|\btoken["']?\s*[:=]`)

// identifier is a name of a program with digits in it: words, each begun as programs begin words.
var identifier = lazy.Regexp(`^(?:[A-Za-z]{2,}\d{0,4}[_.-])+[A-Za-z]{2,}\d{0,4}$|^(?:[A-Z]?[a-z]{2,}\d{0,2}){2,}$|^[A-Z]{2,}(?:[_-][A-Z0-9]{2,})+$|^[A-Za-z]+\d{0,5}(?:[A-Z][a-z]{2,}\d{0,5})+$|^[a-z]\w{0,20}\.[A-Z][A-Za-z]+$`)

// acceptGeneric reports whether what the library takes for a key may be one.
func acceptGeneric(secret, match string) bool {
	if public().MatchString(secret) || stands().MatchString(secret) || isFile(secret) || identifier().MatchString(secret) {
		return false
	}
	if strings.Contains(secret, "/") && !strings.ContainsAny(secret, "+=") && strings.Count(secret, "/") > 1 && len(secret) != 40 {
		return false // a path
	}
	before, _, _ := strings.Cut(match, secret)
	if strings.HasSuffix(before, "h1:") {
		return false // of go.sum
	}
	if hexOnly().MatchString(secret) && !named().MatchString(before) {
		return false
	}
	return strings.ContainsAny(secret, "0123456789")
}

// isEncodedKey reports whether a value in base64 is a private key in PEM.
func isEncodedKey(v string) bool {
	head := v[:min(len(v), 64)&^3]
	b, err := base64.StdEncoding.DecodeString(head)
	return err == nil && strings.Contains(string(b), "PRIVATE KEY")
}

// entropy is that of Shannon, in bits a character.
func entropy(s string) (bits float64) {
	counts := map[rune]int{}
	n := 0
	for _, c := range s {
		counts[c]++
		n++
	}
	sizes := make([]int, 0, len(counts))
	for _, k := range counts {
		sizes = append(sizes, k)
	}
	slices.Sort(sizes) // a sum of floats depends on its order
	for _, k := range sizes {
		p := float64(k) / float64(n)
		bits -= p * math.Log2(p)
	}
	return bits
}
