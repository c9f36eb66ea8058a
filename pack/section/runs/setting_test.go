package runs

import "testing"

func TestSettingReplacesSameField(t *testing.T) {
	const tool, was = "mcp__table__update_reservation", `{"reservation":"LH-5530","date":"2026-04-18","party_size":6}`
	for _, c := range []struct {
		was, now string
		want     bool
	}{
		{was, `{"reservation":"LH-5530","party_size":8}`, true},
		{was, `{"reservation":"LH-5530","party_size":6}`, false},
		{was, `{"reservation":"LH-7000","party_size":8}`, false},
		{was, `{"reservation":"LH-5530","room":"blue"}`, false},
		{`{"booking":"VQ7K2L","passenger":1,"meal":"vegan"}`, `{"booking":"VQ7K2L","passenger":2,"meal":"vegan"}`, false},
		{`{"room":"nursery","target_c":21}`, `{"room":"attic","target_c":16}`, false},
	} {
		first, ok := SettingOf(tool, c.was)
		later, also := SettingOf(tool, c.now)
		if got := ok && also && later.Replaces(&first); got != c.want {
			t.Errorf("%s, %s: %v", c.was, c.now, got)
		}
	}
	if _, ok := SettingOf("get_reservation", was); ok {
		t.Error("a call that reads sets something")
	}
}
