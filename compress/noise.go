package compress

import "strings"

// IsProgress reports whether a line was printed by a progress bar: it has a percentage and either a
// bar, a transfer rate, or an ETA.
func IsProgress(line string) bool {
	at := strings.IndexByte(line, '%')
	if at < 1 || line[at-1] < '0' || line[at-1] > '9' {
		return false
	}
	for _, bar := range []string{"%|", "█", "[=", "[#", "[-", "[>", "=>", "━", "it/s", "B/s", "ETA", "eta "} {
		if strings.Contains(line, bar) {
			return true
		}
	}
	return false
}

// isPercent reports whether a line contains a percentage with its counts, such as "10% (1/10)".
func isPercent(line string) bool {
	at := strings.Index(line, "% (")
	return at > 0 && '0' <= line[at-1] && line[at-1] <= '9' && strings.IndexByte(line[at:], '/') > 0
}

// IsNoise reports whether a line of output is not worth quoting: the state of a progress bar, a
// test that started or passed, or an access log entry with a status below 500.
func IsNoise(line string) bool {
	return IsProgress(line) || isPercent(line) || isPass(line) || isAccess(line)
}

// isPass reports whether a test runner prints this line for a test that started or passed.
func isPass(line string) bool {
	for _, begin := range []string{"--- PASS", "=== RUN", "=== PAUSE", "=== CONT", "PASS", "PASSED", "✓ ", "✔ ", "√ ",
		"[       OK ]", "[ RUN      ]"} {
		if rest, ok := strings.CutPrefix(line, begin); ok {
			return begin != "PASS" || rest == "" || rest[0] == ' ' || rest[0] == ':'
		}
	}
	rest, ok := strings.CutPrefix(line, "ok ")
	if rest = strings.TrimLeft(rest, " \t"); ok || strings.HasPrefix(line, "ok\t") {
		return strings.HasSuffix(line, "s") || strings.HasSuffix(line, "(cached)") || rest != "" && '0' <= rest[0] &&
			rest[0] <= '9'
	}
	if strings.HasPrefix(line, "test ") && strings.HasSuffix(line, "... ok") || strings.HasSuffix(line, " ... ok") {
		return true
	}
	return strings.Contains(line, "::") && strings.Contains(line, " PASSED")
}

// isAccess reports whether a line logs an HTTP request and a status from 100 to 499.
func isAccess(line string) bool {
	for _, method := range []string{"GET ", "POST ", "PUT ", "DELETE ", "PATCH ", "HEAD ", "OPTIONS "} {
		at := strings.Index(line, method)
		if at < 0 || at > 0 && strings.IndexByte(` "[`, line[at-1]) < 0 {
			continue
		}
		rest := line[at+len(method):]
		if !strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, "http") {
			continue
		}
		for field := range strings.FieldsSeq(rest) {
			if i := strings.LastIndexAny(field, "=:"); i >= 0 {
				field = field[i+1:]
			}
			field = strings.Trim(field, `",`)
			if len(field) == 3 && '1' <= field[0] && field[0] <= '4' && strings.Trim(field, "0123456789") == "" {
				return true
			}
		}
	}

	return false
}
