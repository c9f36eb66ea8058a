package redacttest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Seed is a text with a secret in it.
type Seed struct {
	Name   string // of the shape
	Text   string
	Secret string // what must not be shown
	Bare   bool   // the secret is one wherever it stands
}

const (
	digits = "0123456789"
	hexes  = digits + "abcdef"
	lowers = "abcdefghijklmnopqrstuvwxyz"
	uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alnum  = lowers + uppers + digits
)

// maker makes secrets.
type maker struct{ *rand.Rand }

func (m maker) of(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[m.IntN(len(alphabet))]
	}
	return string(b)
}

// password is one as people choose them: words, digits and a sign.
func (m maker) password() string {
	return string(uppers[m.IntN(26)]) + m.of(lowers, 6) + m.of(digits, 3) + string("!#%^*+"[m.IntN(6)]) + m.of(alnum, 4) + m.of(digits, 1) + m.of(lowers, 1)
}

// token has a digit and both kinds of letters, and nothing that could be a word.
func (m maker) token(n int) string {
	return m.of("QZXJKV", 1) + m.of(digits, 1) + m.of("qzxjkv", 1) + m.of(alnum, n-5) + m.of(digits, 1) + m.of("qzxjkv", 1)
}

func (m maker) pem(lines int) (whole, inner string) {
	var b strings.Builder
	for range lines {
		b.WriteString(m.of(alnum+"+/", 64) + "\n")
	}
	b.WriteString(m.of(alnum+"+/", 30) + "==\n")
	kind := "RSA PRIVATE " + "KEY"
	return "-----BEGIN " + kind + "-----\n" + b.String() + "-----END " + kind + "-----", b.String()[:64]
}

// Seeds returns a text of each shape.
func Seeds(r *rand.Rand) (list []Seed) {
	m := maker{r}
	add := func(name, format, secret string, bare bool) {
		list = append(list, Seed{name, strings.ReplaceAll(format, "%S", secret), secret, bare})
	}
	known := func(name, secret string) { add(name, "it is %S here", secret, true) }
	known("github", "gh"+"p_"+m.token(36))
	known("github-fine", "github"+"_pat_"+m.token(82))
	known("gitlab", "gl"+"pat-"+m.token(20))
	known("slack", "xo"+"xb-"+m.of(digits, 12)+"-"+m.of(digits, 12)+"-"+m.token(24))
	known("stripe", "sk"+"_live_"+m.token(24))
	known("npm", "np"+"m_"+m.of(lowers+digits, 36))
	known("google", "AI"+"za"+m.token(35))
	known("aws-id", "AK"+"IA"+m.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16))
	known("anthropic", "sk-"+"ant-api03-"+m.token(93)+"AA")
	known("openai", "sk-"+"proj-"+m.token(74)+"T3Blbk"+"FJ"+m.token(74))
	known("jwt", "ey"+"J"+m.of(alnum, 30)+".ey"+"J"+m.of(alnum, 60)+"."+m.token(43))

	add("bearer", "> Authorization: Bearer %S\n> Accept: */*", m.token(32), true)
	basic := base64.StdEncoding.EncodeToString([]byte("app:" + m.password()))
	add("basic", "Authorization: Basic %S\r\nHost: x", basic, false)
	add("curl", `curl -s -H "Authorization: Bearer %S" https://api.example.org/v1`, m.token(28), true)
	add("api-key-header", "X-Api-Key: %S\n", m.token(32), true)
	add("url", "cloning https://deploy:%S@git.example.org/team/app.git", m.token(20), true)
	add("dsn", "DATABASE_URL=postgres://app:%S@db.internal:5432/app?sslmode=require", m.token(16), true)
	add("go-dsn", `db, err := sql.Open("mysql", "app:%S@tcp(db:3306)/app")`, m.token(14), true)
	add("env", "PATH=/usr/bin\nPOSTGRES_PASSWORD=%S\nHOME=/root", m.password(), true)
	add("env-quoted", "export SMTP_PASSWORD='%S'\n", m.password(), true)
	add("env-token", "CI=true\nDEPLOY_TOKEN=%S\n", m.token(24), true)
	add("env-pass", "DB_PASS=%S\n", m.password(), true)
	add("compose", "    environment:\n      MYSQL_ROOT_PASSWORD: %S\n      MYSQL_DATABASE: app\n", m.password(), true)
	add("docker-inspect", `"Env": ["PATH=/bin", "REDIS_PASSWORD=%S", "LANG=C"]`, m.password(), true)
	add("yaml", "database:\n  user: app\n  password: %S\n", m.password(), true)
	add("yaml-word", "  password: %S\n", m.of(lowers, 10), false)
	add("json-text", `log: {"user":"app","password":"%S"} sent`, m.password(), true)
	add("json-escaped", `body="{\"user\":\"app\",\"password\":\"%S\"}"`, m.password(), true)
	add("ini", "[client]\nuser = app\npassword = %S\n", m.password(), true)
	add("python", `conn = connect(user="app", password="%S")`, m.password(), true)
	add("spoken", "The admin password is %S, do not tell anybody.", m.password(), true)
	add("spoken-below", "The password is\n%S\n", m.password(), true)
	add("spoken-wrapped", "Please log in; the admin password for the\nstaging is\n  %S, and rotate it.", m.password(), true)
	add("spoken-fenced", "The password is:\n\n```text\n%S\n```\nDo not share it.", m.password(), true)
	add("label-below", "User:\nadmin\n\nPassword:\n\n    %S\n", m.password(), true)
	add("label-bold", "**Password**\n\n`%S`\n", m.password(), true)
	add("label-quoted", "> The root password:\n> %S\n> Thanks", m.password(), true)
	add("token-below", "Here is the API key:\n\n    %S\n", m.token(28), true)
	add("flag", "$ app login --user me --password %S --verbose", m.password(), true)
	add("mysql", "mysql -h db -u root -p%S app < dump.sql", m.password(), true)
	add("sshpass", "sshpass -p %S ssh root@host", m.password(), true)
	add("netrc", "machine git.example.org login me password %S\n", m.password(), true)
	add("cookie", "Set-Cookie: session=%S; Path=/; HttpOnly; Secure", m.token(32), true)
	add("cookies", "Cookie: theme=dark; sid=%S; lang=en", m.token(26), true)
	add("connection", "Server=db;Database=app;User Id=app;Password=%S;Encrypt=true", m.password(), true)
	add("azure", "AccountName=x;AccountKey=%S;EndpointSuffix=core.windows.net", m.token(86)+"==", true)
	add("aws-secret", "aws_secret_access_key = %S\n", m.token(40), true)
	add("aws-pair", "AK"+"IA"+m.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)+" | %S |", m.token(40), true)
	add("shadow", "root:%S:19000:0:99999:7:::\n", "$6$"+m.of(alnum, 12)+"$"+m.of(alnum+"./", 86), false)
	add("kubeconfig", "    client-key-data: %S\n", base64.StdEncoding.EncodeToString([]byte("-----BEGIN EC "+"PRIVATE KEY-----\n"+m.of(alnum, 120))), false)
	add("docker-config", `{"auths":{"r.example.org":{"auth":"%S"}}}`, base64.StdEncoding.EncodeToString([]byte("me:"+m.token(18))), false)
	add("secret-field", `{"client_secret": "%S"}`, m.token(32), true)
	add("terraform", `  secret_key = "%S"`, m.token(32), true)
	add("ansi", "\x1b[1mADMIN_PASSWORD\x1b[0m=\x1b[32m%S\x1b[0m\n", m.password(), true)
	pem, inner := m.pem(12)
	list = append(list, Seed{"pem", "cat id_rsa\n" + pem + "\n$ ", inner, false},
		Seed{"pem-escaped", fmt.Sprintf(`"private_key": %q`, pem), inner, false},
		Seed{"pem-cut", pem[:len(pem)*2/3], inner, false},
		Seed{"pem-numbered", numbered(pem), inner, false})
	known("anthropic oauth", "sk-"+"ant-oat01-"+m.token(93)+"AA")
	known("openrouter", "sk-"+"or-v1-"+strings.Repeat("4be1c7", 10)+"09af")
	known("anthropic cut", "sk-"+"ant-api03-"+m.token(40))
	add("anthropic in a sentence", "it was %S, and then", "sk-"+"ant-api03-"+m.token(93)+"AA", true)
	return list
}

func numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, line)
	}
	return b.String()
}
