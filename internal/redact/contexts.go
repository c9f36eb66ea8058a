package redact

import (
	"regexp"
	"strings"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Pieces of expressions. A quote may be escaped, once or more often, where a text holds JSON that holds JSON.
const (
	optQuote = "(?:\\\\{0,3}[\"'`])?"
	operator = `\s{0,4}(?::=|=>|:|=)\s{0,4}`
	quoted   = `"((?:[^"\\\n]|\\.){1,400})"|\\{1,3}"((?:[^"\\\n]|\\[^"\n]){1,300}?)\\{1,3}"|\\{0,3}'([^'\n]{1,500}?)\\{0,3}'` + "|`([^`\\n]{1,500})`"
	between  = `(?:[ \t\r]|\\{1,3}[rn]|\n|[|>+:]|\d{1,5}[\t:|])*` // lines of a key, which may be numbered or quoted
	bare     = "([^\\s\"'`,;<>\\\\)}\\]]{1,500})"
)

// Pieces of what somebody writes. A line may break between any two words, and a value may stand alone on a line below its label.
const (
	lineEnd = `(?:\r?\n|\\{1,3}r?\\{0,3}n)`
	wordGap = `(?:[ \t]{1,8}|[ \t]{0,8}` + lineEnd + `[ \t>#*|-]{0,16})`
	lead    = `(?:\d{1,6}[\t:|][ \t]?)?(?:[>|*-][ \t]{1,4}){0,2}(?:\*\*|__)?` // a number of the line, a quotation, an item, bold
	down    = `(?:[ \t]{0,8}` + lineEnd + `){1,3}(?:[ \t>]{0,8}(?:~~~|` + "```" + `)[\w-]{0,16}[ \t]{0,4}` + lineEnd + `)?[ \t]{0,16}` + lead
	below   = `[ \t]{0,8}:?(?:[ \t]{1,8}|` + down + `)`

	// The rest of a line that is a label: it ends in a colon, or has nothing more.
	labelEnd   = `(?:[*_` + "`" + `"']{0,3}[ \t]{0,4}[:=]?[*_` + "`" + `"']{0,3})` + down
	labelColon = `[*_` + "`" + `"']{0,3}[ \t]{0,4}[:=][*_` + "`" + `"']{0,3}` + down
	valueLine  = optQuote + "([^\\s\"'`\\\\,;<>(){}\\[\\]]{4,256}?)" + optQuote + `(?:\*\*|__)?[.,;]?[ \t]{0,8}(?:` + lineEnd + `|\\{0,3}["'\x60]|$)`
)

// keyNames end names of fields that hold a secret whatever it looks like.
const keyNames = `(?:password|passwd|passphrase|passcode|passwort|pwd)`

// contexts returns the rules that gitleaks has none for.
func contexts() []*rule {
	rules := []*rule{
		{id: "authorization-header", keywords: []string{"authorization"}, carry: true, accept: acceptToken,
			source: `(?i)authorization` + optQuote + operator + optQuote + `(?:bearer|token|apikey|api-key|negotiate|ntlm|splunk|genie-?key)\s{1,4}([A-Za-z0-9._~+/=:-]{6,})`},
		{id: "authorization-header", keywords: []string{"authorization"}, carry: true, accept: acceptToken,
			source: `(?i)authorization` + optQuote + operator + optQuote + `basic\s{1,4}([A-Za-z0-9+/=_-]{6,})`},
		{id: "bearer-token", keywords: []string{"bearer"}, carry: true, accept: acceptBearer,
			source: `(?i)\bbearer[ \t]{1,4}([A-Za-z0-9._~+/-]{16,}={0,2})`},
		{id: "key-header", gate: true, keywords: []string{"key", "token", "secret", "auth"}, carry: true, accept: acceptToken,
			source: `(?i)\b(?:x-[a-z-]{0,32}(?:key|token|secret|auth)|api-?key|private-token|job-token|deploy-token)` + optQuote + `\s{0,4}:\s{0,4}` + optQuote + `([A-Za-z0-9._~+/=-]{12,})`},
		{id: "url-password", keywords: []string{"://"}, carry: true, accept: func(v, _ string) bool { return !stands().MatchString(v) && v != "..." },
			source: "(?i)\\b[a-z][a-z0-9+.-]{1,24}://[^\\s:/?#@\"'<>`\\\\]{0,128}:([^\\s/\"'<>`\\\\@]{1,256}(?:@[^\\s/\"'<>`\\\\@:]{1,128}){0,2})@[A-Za-z0-9\\[$]"},
		{id: "dsn-password", keywords: []string{"@tcp(", "@unix("}, carry: true, accept: func(v, _ string) bool { return isSecret(v) },
			source: `[\w.-]{1,64}:([^\s:@/"']{3,128})@(?:tcp|unix)\(`},
		{id: "connection-string", gate: true, keywords: []string{"accountkey", "sharedaccess", "sharedsecret", "pwd", "password"}, carry: true, accept: func(v, _ string) bool { return isSecret(v) && !code().MatchString(v) },
			source: `(?i)\b(?:AccountKey|SharedAccessKey|SharedAccessSignature|SharedSecretValue|Pwd|Password)\s?=\s?([^;"'\s]{4,512});`},
		{id: "cookie", keywords: []string{"cookie"}, carry: true, accept: acceptCookie, inner: regexp.MustCompile(`[\w.-]{1,128}=([^;\s,"'\\]{6,})`),
			source: `(?i)\b(?:set-)?cookie` + optQuote + `\s{0,4}:\s{0,4}` + optQuote + `([\w.-]{1,128}=[^\r\n"']{6,})`},
		{id: "password", keywords: secretWords, carry: true, accept: acceptEnv, name: true, gate: true, upper: true,
			source: `(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|APIKEY|CREDENTIALS|_PASS|_PWD|_KEY|\bPASS)(?:_BASE|_B64|_[0-9]{1,2})?` + optQuote + `(?:=|:[ \t]{1,4}|[ \t]=[ \t])(?:` + quoted + "|([^\\s\"'`;<>\\\\)}]{1,500}))"},
		{id: "password", keywords: []string{"pass", "pwd"}, carry: true, accept: func(v, m string) bool { return isSecret(v) && !strings.ContainsAny(v, "{}()") && !prose(v) },
			source: nameFirst + keyNames + `\d{0,2}` + optQuote + `(?:` + operator + `|\s{0,2}(?:==|!=)\s{0,2})(?:` + quoted + `)`},
		{id: "password", keywords: []string{"pass", "pwd"}, carry: true, accept: func(v, m string) bool { return isBareSecret(v) },
			source: nameFirst + keyNames + `\d{0,2}` + optQuote + operator + bare},
		{id: "password", keywords: []string{"pass", "pwd"}, carry: true, accept: acceptConfigWord,
			source: `(?im)^[ \t-]*(?:[\w.-]{0,48}[_.-])?` + keyNames + `:[ \t]+([a-z0-9]{4,64})[ \t]*\r?$`},
		{id: "password", keywords: []string{"pass", "pwd", "pin"}, carry: true, accept: acceptSpoken,
			source: `(?i)\b(?:` + keyNames + `|pin)\b(?:` + wordGap + `(?:for|of|to|on)` + wordGap + `[^\s]{1,64}(?:` + wordGap + `[\w.-]{1,32})?)?` + wordGap + `(?:is|was|will be|set to|changed to)` + below + optQuote + "((?:[^\\s\"'`\\\\]|\\\\[^\\snrt\"'`]){3,128}[^\\s\"'`.,;:!?)\\\\])"},
		{id: "password", keywords: []string{"pass", "pwd", "pin"}, carry: true, accept: acceptBelow,
			source: `(?i)\b(?:[\w-]{1,32}_)?(?:` + keyNames + `|pin)` + labelEnd + valueLine},
		{id: "secret-field", keywords: []string{"secret", "token", "key", "credential"}, carry: true, accept: acceptTokenBelow,
			source: `(?i)\b(?:secret|token|(?:api|access|secret|private)[ _-]?key|credentials?)(?:[ \t]+(?:is|was|for[ \t]+[\w.-]{1,64}))?` + labelColon + valueLine},
		{id: "password", keywords: []string{"--pass", "--pwd", "--token", "--secret", "--api-key", "--access-token", "--auth-token", "--client-secret"}, carry: true, accept: func(v, m string) bool { return isSecret(v) && !code().MatchString(v) && !spoken().MatchString(v) },
			source: `(?i)\s--(?:[\w-]{0,32}-)?(?:password|passwd|pass|pwd|passphrase|token|secret|api-key)(?:=|[ \t]{1,4})(?:` + quoted + "|([^\\s\"'`;|&<>\\\\-][^\\s\"'`;|&<>\\\\]{3,256}))"},
		{id: "password", keywords: []string{"mysql", "mariadb", "sshpass"}, carry: true, accept: func(v, m string) bool { return isSecret(v) },
			source: `(?:\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n|;&]{0,256}?\s-p|\bsshpass\s{1,4}-p\s{0,4})(?:` + quoted + "|([^\\s\"'`|;&<>]{3,128}))"},
		{id: "password", keywords: []string{"machine"}, carry: true, accept: func(v, m string) bool { return isSecret(v) },
			source: `\bmachine\s{1,8}\S{1,256}\s{1,8}login\s{1,8}\S{1,256}\s{1,8}password\s{1,8}(\S{3,256})`},
		{id: "password", keywords: []string{":5432:", ":*:"}, carry: true, accept: func(v, m string) bool { return isSecret(v) },
			source: `(?m)^[\w.*-]{1,128}:(?:5432|\*):[\w*-]{1,64}:[\w*-]{1,64}:([^\s:]{4,128})\r?$`},
		{id: "secret-field", gate: true, name: true, keywords: []string{"secret", "token", "key", "auth", "credential"}, carry: true, accept: acceptField,
			source: `(?i)(?:secret|token|api_?-?key|access_?key|secret_?key|private_?key|client_?secret|_auth|_authtoken|credential)(?:\\{0,3}["'])?\s{0,4}(?::=|=>|:|=)\s{0,4}\\{0,3}["']([^"'\\\s]{12,})\\{0,3}["']`},
		{id: "docker-auth", gate: true, keywords: []string{"auth"}, carry: true, accept: func(v, m string) bool { return mixed(v) },
			source: `\\{0,3}"(?:auth|identitytoken|registrytoken)\\{0,3}"\s{0,4}:\s{0,4}\\{0,3}"([A-Za-z0-9+/=._-]{12,})\\{0,3}"`},
		{id: "npm-auth", keywords: []string{"_auth", "_password"}, carry: true, accept: func(v, m string) bool { return isSecret(v) && !code().MatchString(v) },
			source: `(?m):?_(?:authToken|auth|password)\s{0,2}=\s{0,2}"?([^\s"]{6,})`},
		{id: "aws-secret", gate: true, keywords: []string{"secret"}, carry: true, accept: acceptAWS,
			source: `(?i)(?:aws_?)?(?:secret_?access_?key|secret_?key|aws_?secret)` + optQuote + operator + optQuote + `([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`},
		{id: "aws-secret", keywords: []string{"akia", "asia"}, carry: true, accept: acceptAWS,
			source: `\b(?:AKIA|ASIA)[A-Z2-7]{16}\b[\s\S]{1,160}?[^A-Za-z0-9/+=]([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`},
		{id: "aws-session-token", gate: true, keywords: []string{"session"}, carry: true,
			source: `(?i)session_?token` + optQuote + operator + optQuote + `([A-Za-z0-9/+=]{80,})`},
		{id: "private-key", keywords: []string{"-----begin"},
			source: `-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----(?:` + between + `[A-Za-z][A-Za-z-]{1,40}: [^\n\\"']+)*(?:` + between + `[A-Za-z0-9+/=]{24,})+(?:(?:\n|\\n)[A-Za-z0-9+/=]{1,64})?`},
		{id: "kubeconfig-key", keywords: []string{"client-key-data"}, carry: true,
			source: `client-key-data` + optQuote + `\s{0,4}:\s{0,4}` + optQuote + `([A-Za-z0-9+/=]{16,})`},
		{id: "kubeconfig-token", keywords: []string{"token:"}, carry: true, accept: acceptToken,
			source: `(?m)^[ \t-]{0,32}(?:id-|access-|refresh-)?token:[ \t]{1,4}"?([A-Za-z0-9._-]{16,})`},
		{id: "encoded-private-key", keywords: []string{"ls0tls1crudjti"}, accept: func(v, _ string) bool { return isEncodedKey(v) },
			source: `LS0tLS1CRUdJTi[A-Za-z0-9+/=]{40,}`},
		{id: "password-hash", keywords: []string{"$1$", "$2a$", "$2b$", "$2x$", "$2y$", "$5$", "$6$", "$7$", "$y$", "$gy$", "$apr1$", "$argon2"},
			source: `\$(?:(?:1|apr1|5|6|7|y|gy)\$[^\s:"'\\]{8,200}|2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|argon2(?:id|i|d)\$[^\s:"'\\]{16,300})`},
		// gitleaks knows some of these by their exact length and what may follow; an OAuth token of Claude Code, a key in front of a comma and one that was cut are keys, too.
		{id: "model-key", keywords: []string{"sk-"}, carry: true, accept: func(v, _ string) bool { return digits(v) && mixed(v) && entropy(v) > 3.2 },
			source: `\b(sk-(?:ant|or|proj|svcacct|admin|lf)-[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{32,})`},
		{id: "slack-webhook", keywords: []string{"webhook"}, carry: true,
			source: `(?i)https://(?:discord(?:app)?\.com/api/webhooks|[\w.-]{1,64}\.webhook\.office\.com/webhookb2)/([\w@/-]{20,256})`},
		{id: "signed-url", keywords: []string{"x-amz-signature", "x-goog-signature", "sig="}, carry: true,
			source: `(?i)[?&](?:x-amz-signature|x-goog-signature|sig)=([A-Za-z0-9%/+_=-]{24,})`},
		{id: "url-token", gate: true, keywords: []string{"token=", "api_key=", "apikey=", "key=", "secret=", "password="}, carry: true, accept: acceptToken,
			source: `(?i)[?&](?:access_token|auth_token|token|api_key|apikey|key|client_secret|secret|password)=([A-Za-z0-9%._~+/-]{12,})`},
	}
	for _, r := range rules {
		r.rank = context
	}
	return rules
}

var secretWords = []string{"passw", "passphrase", "secret", "token", "apikey", "credentials", "pass", "pwd", "_key"}

// digits reports whether a text has one.
func digits(v string) bool { return strings.ContainsAny(v, "0123456789") }

// prose reports whether a quoted value is a sentence.
func prose(v string) bool {
	return strings.Count(v, " ") > 5 || strings.Contains(v, ": ") || spoken().MatchString(v) && len(v) > 24 || strings.HasSuffix(v, ".")
}

// acceptToken takes what looks random at all.
func acceptToken(v, _ string) bool {
	return isSecret(v) && !public().MatchString(v) && !code().MatchString(v) && (digits(v) || entropy(v) > 3.7 && !spoken().MatchString(v))
}

func acceptBearer(v, _ string) bool { return acceptToken(v, "") && digits(v) }

// attributes are the names in a Set-Cookie header that hold nothing secret; the expression of cookies sees values alone.
var attributes = lazy.Regexp(`(?i)^(?:strict|lax|none|/.*|(?:mon|tue|wed|thu|fri|sat|sun),?|\d{1,10}|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,})$`)

func acceptCookie(v, _ string) bool {
	return isSecret(v) && !attributes().MatchString(v) && !spoken().MatchString(v) && !code().MatchString(v)
}

// notValues end names of an environment that tell where a secret is, or what it is like.
var publicNames = lazy.Regexp(`(?:PUBLIC_?KEY|FOREIGN_KEY|PRIMARY_KEY|SORT_KEY|CACHE_KEY|PARTITION_KEY|UNIQUE_KEY|MAX_?TOKENS?|_TOKENS|NUM_TOKEN|STOP_TOKEN|PAD_TOKEN|EOS_TOKEN|BOS_TOKEN|UNK_TOKEN|COLUMN_KEY|REG_KEY|HKEY|STATUS_KEY|SESSION_KEY|STORAGE_KEY|ACTION_KEY|CONFIG_KEY|\bKEY|\bPWD|\bOLDPWD)["'\\]*(?:=|:|\s)`)

var strongNames = lazy.Regexp(`(?:PASSWORD|PASSWD|PASSPHRASE|PASS|PWD)(?:_BASE|_B64|_\d{1,2})?["'\\]*(?:=|:|\s)`)

// acceptEnv judges NAME=value, as environments, compose files and shells have it.
func acceptEnv(v, match string) bool {
	if strings.HasPrefix(match, "PASS:") || publicNames().MatchString(match) || !isSecret(v) || strings.HasPrefix(v, "$") || code().MatchString(v) || strings.HasPrefix(v, "/") && isFile(v) {
		return false
	}
	if strongNames().MatchString(match) {
		return !strings.HasPrefix(v, "http") && !prose(v)
	}
	return len(v) >= 8 && !spoken().MatchString(v) && mixed(v) && !prose(v) && !public().MatchString(v) && !identifier().MatchString(v) && !strings.Contains(v, "://")
}

// acceptConfigWord judges a single word behind password: on a line of YAML.
func acceptConfigWord(v, match string) bool {
	return isSecret(v) && strings.ToLower(v) == v
}

// acceptSpoken judges what follows "the password is".
func acceptSpoken(v, _ string) bool {
	v = strings.TrimRight(v, ".,;:!?)")
	return isBareSecret(v) && (digits(v) || strings.ContainsAny(v, "!@#$%^&*+=~")) && !strings.ContainsAny(v, "<>")
}

// acceptBelow judges what stands alone on the line below one that ends in "password" or "password:".
func acceptBelow(v, match string) bool {
	v = strings.TrimRight(v, ".,;:*_")
	if !isBareSecret(v) || !digits(v) || public().MatchString(v) || identifier().MatchString(v) || hexOnly().MatchString(v) || strings.Contains(v, "://") {
		return false
	}
	label, _, _ := strings.Cut(match, "\n")
	label = strings.TrimRight(label, " \t\r*_`\"'")
	return strings.HasSuffix(label, ":") || strings.HasSuffix(label, "=") || strings.ContainsAny(v, "!@#$%^&*+=~") || bothCases(v)
}

// bothCases reports whether a text has small letters and capitals.
func bothCases(v string) bool { return strings.ToLower(v) != v && strings.ToUpper(v) != v }

// acceptTokenBelow judges what stands alone on the line below "token:".
func acceptTokenBelow(v, match string) bool {
	return len(v) >= 12 && acceptField(v, match) && !hexOnly().MatchString(v)
}

// acceptField judges "token": "…".
func acceptField(v, match string) bool {
	return isSecret(v) && digits(v) && mixed(v) && entropy(v) > 3.2 && !public().MatchString(v) && !code().MatchString(v) && !isFile(v) && !identifier().MatchString(v) &&
		!strings.Contains(v, "://") && !strings.Contains(strings.ToLower(match), "public")
}

// acceptAWS takes 40 characters that are no hash and no path.
func acceptAWS(v, _ string) bool {
	return !hexOnly().MatchString(v) && digits(v) && entropy(v) > 3.5 && strings.ToLower(v) != v && strings.ToUpper(v) != v
}
