package ctxabi

import "testing"

func TestWhatAHookToldIsTakenOut(t *testing.T) {
	told := Told("Never push to main.\n\n## Known\n- the port is 8443\n")
	for text, want := range map[string]string{
		"Which port?":                     "Which port?",
		told:                              "",
		told + "Which port?":              "Which port?",
		"a\n" + told + "b\n" + told + "c": "a\nb\nc",
		"<hook_context>" + told + "</hook_context>":                        "",
		"<hook_context>x</hook_context>\n\nWhich?":                         "<hook_context>x</hook_context>\n\nWhich?",
		"Which?\n" + ToldBegins + "\nNever push":                           "Which?\n",
		"<hook_context>" + told + "and more of others":                     "<hook_context>and more of others",
		"<hook_context>" + told + "</hook_context>\n\nWhich port is <it>?": "Which port is <it>?",
	} {
		if got := WithoutTold(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
