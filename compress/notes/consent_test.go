package notes

import (
	"slices"
	"strings"
	"testing"
)

// consented are questions to which a yes lets somebody act once.
var consented = []string{
	"The history is rewritten. Shall I force-push to main?",
	"May I delete all backups older than a day?",
	"May I charge the card ending in 9725?",
	"Should I proceed with committing and tagging?",
	"Should I deploy to production?",
	"Do you want me to publish the package?",
	"Would you like me to rebook you on HX72KQ?",
	"Want me to send the mail to all customers?",
	"OK to merge into main?",
	"Is it fine if I drop the table users?",
	"Ready to release 2.0?",
	"Shall we force-push to main?",
	"Should we delete the backups?",
	"Should we go ahead and deploy?",
	"Let's go ahead and force-push, okay?",
	"How about a deploy to production now?",
	"I suggest that we purge the old volumes. Shall I?",
	"I recommend a force-push to main. Shall I proceed?",
	"I suggest we use pgx. May I push to main?",
	"Please confirm that you want to proceed with this booking.",
	"Please confirm by saying \"yes\" to proceed.",
	"Do you want to cancel the reservation HX72KQ?",
	"Would you like to use your credit card ending in 9725 for this?",
	"Should I use --force for the push?",
	"If you agree, I'll push to main.",
	"Just say yes and I will wipe the disk.",
	"Let me know if I should push to main.",
	"We could drop the database events_dev. Good to go?",
	"Soll ich auf main pushen?",
	"Darf ich die Datenbank löschen?",
	"Sollen wir die alten Backups löschen?",
	"Möchten Sie, dass ich die Buchung storniere?",
	"Möchten Sie mit der Buchung fortfahren?",
	"Bitte bestätigen: soll ich jetzt deployen?",
}

func TestConsentIsNoDecision(t *testing.T) {
	for _, question := range consented {
		for _, yes := range []string{"yes", "yes, this once", "Yes, please go ahead.", "ja", "ok, do it", "go ahead and do that, please", "Sure. Please proceed with it."} {
			n := talk("assistant: "+question, "user: "+yes)
			if got := n.Decisions(); len(got) > 0 {
				t.Errorf("%q, %q: %+v", question, yes, got)
			}
			if got := n.Facts(); len(got) > 0 {
				t.Errorf("%q, %q: %+v", question, yes, got)
			}
			if got := n.Summary(1000, func(s string) int { return len(s) / 4 }); strings.Contains(got, "Decided") {
				t.Errorf("%q, %q: %s", question, yes, got)
			}
		}
	}
	for _, order := range []string{
		"Please go ahead and force-push to main.", "Yes, please proceed with the cancellation.", "let's ship it", "let's do a force-push to main",
		"I'd like to proceed with the payment.", "let's go ahead and delete the backups", "Please go ahead with the release.",
	} {
		if got := talk("user: " + order).Decisions(); len(got) > 0 {
			t.Errorf("%q: %+v", order, got)
		}
	}
	for _, list := range []string{"1. Force-push to main\n2. Open a pull request\n\nWhich one?", "1. Backups of May\n2. Backups of June\n\nWhich one should I delete?"} {
		if got := talk("assistant: "+list, "user: 1").Decisions(); len(got) > 0 {
			t.Errorf("%q: %+v", list, got)
		}
	}
}

// What is chosen stays a decision, however it is asked for.
func TestChoiceStaysADecision(t *testing.T) {
	for _, question := range []string{
		"Should we keep the old API?",
		"Shall we use pgx for the database?",
		"Should I use pgx for the database?",
		"Do you want me to keep the old API?",
		"Do you want to stay on Go 1.21?",
		"Would you like to keep the old API?",
		"Should I always run the linter before I push?",
		"Do you want me to run the tests before every commit?",
		"Should we tag each release with a v?",
		"I suggest we use a release branch. Shall I do that?",
		"How about a release branch per version?",
		"We could drop support for 3.8.",
		"Should we stop supporting 3.8?",
		"Should we continue to support 3.8?",
		"Please confirm that we keep the old API.",
		"Sollen wir die alte API behalten?",
		"Soll ich pgx verwenden?",
	} {
		got := talk("assistant: "+question, "user: yes").Decisions()
		first, _, _ := strings.Cut(question, " Shall I do that?")
		if len(got) != 1 || got[0].Decision != "yes: "+first {
			t.Errorf("%q: %+v", question, got)
		}
	}
	for _, said := range []string{"use pgx for the database", "please go ahead and use pgx for the queue", "Yes, let's go with Flight HAT072.", "let's drop support for 3.8"} {
		if got := talk("assistant: Would you like to proceed with this option?", "user: "+said).Decisions(); len(got) != 1 || got[0].Decision != said {
			t.Errorf("%q: %+v", said, got)
		}
	}
}

func TestLimitStaysWithItsStatement(t *testing.T) {
	const keep = "assistant: Should we keep the old API?"
	for _, c := range []struct {
		turns []string
		want  string
	}{
		{[]string{keep, "user: yes, until version 3"}, "yes: Should we keep the old API? (yes, until version 3)"},
		{[]string{keep, "user: yes, but only for staging"}, "yes: Should we keep the old API? (yes, but only for staging)"},
		{[]string{keep, "user: Yes. Only for staging."}, "yes: Should we keep the old API? (Yes. Only for staging.)"},
		{[]string{keep, "user: sure, for now"}, "yes: Should we keep the old API? (sure, for now)"},
		{[]string{keep, "user: yes, on staging"}, "yes: Should we keep the old API? (yes, on staging)"},
		{[]string{keep, "user: yes, this once"}, "yes: Should we keep the old API? (yes, this once)"},
		{[]string{keep, "user: ja, bis Version 3"}, "yes: Should we keep the old API? (ja, bis Version 3)"},
		{[]string{keep, "user: yes, if the tests pass"}, "yes: Should we keep the old API? (yes, if the tests pass)"},
		{[]string{keep, "user: yes please, sounds good"}, "yes: Should we keep the old API?"},
		{[]string{"assistant: Option A: keep it in memory\nOption B: write it to disk\nWhich one?", "user: B, but only until Friday"}, "option B: write it to disk (B, but only until Friday)"},
		{[]string{"user: Let's use pgx for the queue. Only until version 3."}, "Let's use pgx for the queue. Only until version 3."},
	} {
		var got []string
		for _, d := range talk(c.turns...).Decisions() {
			got = append(got, d.Decision)
		}
		if !slices.Equal(got, []string{c.want}) {
			t.Errorf("%q: %q, want %q", c.turns, got, c.want)
		}
	}
}

// A permission for once, or for a while, ends no rule.
func TestOnePermissionEndsNoRule(t *testing.T) {
	const ban = "user: Never push to main."
	for said, want := range map[string][]string{
		"You may push to main this once.":                {"Never push to main."},
		"You can push to main again, just this once.":    {"Never push to main."},
		"You may push to main. Just this once.":          {"Never push to main."},
		"You may push to main until Friday.":             {"Never push to main."},
		"You may push to main for now.":                  {"Never push to main."},
		"You may push to main. But only until Friday.":   {"Never push to main."},
		"You may push to main now.":                      nil,
		"You can push to main again":                     nil,
		"Yes, you may push to main, but only this time.": {"Never push to main."},
	} {
		var got []string
		for _, f := range talk(ban, "assistant: May I push to main?", "user: "+said).Facts() {
			got = append(got, f.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
