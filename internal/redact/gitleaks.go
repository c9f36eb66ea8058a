package redact

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

// libraryVersion is the release of gitleaks that gitleaks.toml is from, byte for byte.
const libraryVersion = "8.30.1"

//go:embed gitleaks.toml
var libraryText string

// library is gitleaks.toml as far as a text without a path, a commit or a repository can be judged by it.
type library struct {
	Allowlist libraryAllow
	Rules     []struct {
		ID          string
		Regex       string
		Path        string
		SecretGroup int
		Entropy     float64
		Keywords    []string
		SkipReport  bool
		Allowlists  []libraryAllow
	}
}

type libraryAllow struct {
	Condition   string
	Paths       []string
	Commits     []string
	RegexTarget string
	Regexes     []string
	StopWords   []string
}

// earlier are keywords that say more than those of the library, whose engine looks at a whole text where one of them stands:
// "ey" stands in every "key".
var earlier = map[string][]string{"jwt": {"eyj", "eya"}}

// unfit are rules of the library that no text can meet, or that take the place of nothing here: the first is of a
// file's name alone; the second means files of Terraform, and has fields of passwords beside it in contexts.go.
var unfit = map[string]bool{"pkcs12-file": true, "hashicorp-tf-password": true}

// fromLibrary returns the rules of gitleaks, and what they all allow.
func fromLibrary() (rules []*rule, all allowance, err error) {
	var l library
	if _, err := toml.Decode(libraryText, &l); err != nil {
		return nil, all, fmt.Errorf("the rules of gitleaks cannot be read: %w", err)
	}
	if all, err = l.Allowlist.allowance(); err != nil {
		return nil, all, err
	}
	for _, from := range l.Rules {
		if unfit[from.ID] || from.SkipReport || from.Regex == "" {
			continue
		}
		r := &rule{id: from.ID, source: from.Regex, keywords: from.Keywords, group: from.SecretGroup, entropy: from.Entropy, rank: specific}
		if words := earlier[from.ID]; words != nil {
			r.keywords = words
		}
		if from.ID == genericKey {
			r.rank, r.carry, r.accept = vague, true, acceptGeneric
		}
		for _, a := range from.Allowlists {
			allow, err := a.allowance()
			if err != nil {
				return nil, all, fmt.Errorf("rule %s of gitleaks: %w", from.ID, err)
			}
			if !allow.empty() {
				r.allow = append(r.allow, allow)
			}
		}
		rules = append(rules, r)
	}
	return rules, all, nil
}

// genericKey is the rule of the library that goes by context alone.
const genericKey = "generic-api-key"

// allowance is what a rule passes over.
type allowance struct {
	all     bool // every criterion must hold, else one of them
	target  string
	regexes []*regexp.Regexp
	words   []string
}

func (l *libraryAllow) allowance() (a allowance, err error) {
	a.all, a.target = strings.EqualFold(l.Condition, "AND"), l.RegexTarget
	if a.all && len(l.Paths)+len(l.Commits) > 0 {
		return allowance{}, nil // a text has neither, so that it never holds
	}
	for _, s := range l.Regexes {
		re, err := regexp.Compile(s)
		if err != nil {
			return a, err
		}
		a.regexes = append(a.regexes, re)
	}
	for _, w := range l.StopWords {
		a.words = append(a.words, strings.ToLower(w))
	}
	return a, nil
}

func (a *allowance) empty() bool { return len(a.regexes)+len(a.words) == 0 }

// allows reports whether a secret is passed over, which was found as match in a line.
func (a *allowance) allows(secret, match, line string) bool {
	target := secret
	switch a.target {
	case "match":
		target = match
	case "line":
		target = line
	}
	byRegex, byWord := false, false
	for _, re := range a.regexes {
		if byRegex = re.MatchString(target); byRegex {
			break
		}
	}
	if len(a.words) > 0 && (a.all || !byRegex) {
		lower := strings.ToLower(secret)
		for _, w := range a.words {
			if byWord = strings.Contains(lower, w); byWord {
				break
			}
		}
	}
	if a.all {
		return (byRegex || len(a.regexes) == 0) && (byWord || len(a.words) == 0)
	}
	return byRegex || byWord
}
