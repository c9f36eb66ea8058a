package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The tools of the agent. Each looks at or changes the scene's files and gives
// the call with its result.

func (s *scene) file(path string) string {
	text, ok := s.files[path]
	if !ok {
		panic("the story reads a file that is not there: " + path)
	}
	return text
}

func (s *scene) read(path string) call {
	var b strings.Builder
	for i, l := range strings.Split(strings.TrimSuffix(s.file(path), "\n"), "\n") {
		fmt.Fprintf(&b, "%4d\t%s\n", i+1, l)
	}
	return call{name: "read_file", args: map[string]any{"path": path}, result: b.String()}
}

func (s *scene) readRange(path string, from, to int) call {
	var b strings.Builder
	lines := strings.Split(strings.TrimSuffix(s.file(path), "\n"), "\n")
	for i := from; i <= min(to, len(lines)); i++ {
		fmt.Fprintf(&b, "%4d\t%s\n", i, lines[i-1])
	}
	return call{name: "read_file", args: map[string]any{"path": path, "from": from, "to": to}, result: b.String()}
}

func (s *scene) list() call {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		fmt.Fprintf(&b, "%6d  %s\n", len(s.files[path]), path)
	}
	return call{name: "list_files", args: map[string]any{"path": "."}, result: b.String()}
}

func (s *scene) grep(pattern string) call {
	re := regexp.MustCompile(pattern)
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		for i, l := range strings.Split(s.files[path], "\n") {
			if re.MatchString(l) {
				fmt.Fprintf(&b, "%s:%d:%s\n", path, i+1, l)
			}
		}
	}
	if b.Len() == 0 {
		b.WriteString("no matches\n")
	}
	return call{name: "grep", args: map[string]any{"pattern": pattern}, result: b.String()}
}

// edit replaces old, which must stand in path exactly once, and shows the place afterwards.
func (s *scene) edit(path, old, new string) call {
	text := s.file(path)
	if strings.Count(text, old) != 1 {
		panic(fmt.Sprintf("the story edits %s, where this stands %d times:\n%s", path, strings.Count(text, old), old))
	}
	at := 1 + strings.Count(text[:strings.Index(text, old)], "\n")
	s.files[path] = strings.Replace(text, old, new, 1)
	gone, came := strings.Count(old, "\n")+1, strings.Count(new, "\n")+1
	return call{
		name:   "edit_file",
		args:   map[string]any{"path": path, "old": old, "new": new},
		result: fmt.Sprintf("%s: replaced %d line(s) at line %d by %d\n", path, gone, at, came),
	}
}

// editMissing is an edit whose old text does not stand there.
func (s *scene) editMissing(path, old, new string) call {
	if strings.Contains(s.file(path), old) {
		panic("the story expects this edit to fail: " + old)
	}
	return call{
		name: "edit_file", failed: true,
		args:   map[string]any{"path": path, "old": old, "new": new},
		result: fmt.Sprintf("error: the text to replace does not occur in %s; read the file again\n", path),
	}
}

func (s *scene) create(path, text string) call {
	s.files[path] = text
	return call{
		name: "write_file", args: map[string]any{"path": path, "content": text},
		result: fmt.Sprintf("wrote %d bytes to %s\n", len(text), path),
	}
}

// sh runs a command whose output the story knows.
func (s *scene) sh(command, output string) call {
	return call{name: "shell", args: map[string]any{"command": command}, result: output}
}

// shFails is a command that ends with another status than 0.
func (s *scene) shFails(command, output string) call {
	c := s.sh(command, output+"exit status 1\n")
	c.failed = true
	return c
}

var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)`)

// failure is one failing test and what it prints.
type failure struct{ pkg, test, log string }

// test runs go test -v over the packages; tests of files in the scene are found by their names.
func (s *scene) test(command string, pkgs []string, failures ...failure) call {
	var b strings.Builder
	failed := false
	for _, pkg := range pkgs {
		bad := false
		for _, name := range s.tests(pkg) {
			log := ""
			for _, f := range failures {
				if f.pkg == pkg && f.test == name {
					log, bad, failed = f.log, true, true
				}
			}
			s.runTest(&b, pkg, name, log)
		}
		path := "example.com/parcel-gateway/" + pkg
		if seconds := 0.01 + s.rng.Float64(); bad {
			fmt.Fprintf(&b, "FAIL\nFAIL\t%s\t%.3fs\n", path, seconds)
		} else {
			fmt.Fprintf(&b, "PASS\nok  \t%s\t%.3fs\n", path, seconds)
		}
	}
	if failed {
		b.WriteString("FAIL\n")
		return s.shFails(command, b.String())
	}
	return s.sh(command, b.String())
}

func (s *scene) runTest(b *strings.Builder, pkg, name, log string) {
	fmt.Fprintf(b, "=== RUN   %s\n", name)
	subs := subtests[name]
	for _, sub := range subs {
		fmt.Fprintf(b, "=== RUN   %s/%s\n", name, sub)
	}
	if pkg == "server" && s.rng.IntN(3) == 0 {
		fmt.Fprintf(b, "    server_test.go:%d: listening on 127.0.0.1:%d\n", 31+s.rng.IntN(200), 32768+s.rng.IntN(28000))
	}
	verdict := "PASS"
	if log != "" {
		verdict = "FAIL"
		b.WriteString(log)
	}
	fmt.Fprintf(b, "--- %s: %s (%.2fs)\n", verdict, name, float64(s.rng.IntN(9))/100)
	for _, sub := range subs {
		fmt.Fprintf(b, "    --- PASS: %s/%s (0.00s)\n", name, sub)
	}
}

// tests lists the tests of a package: those in the scene's files, and those of
// packages that the story never opens.
func (s *scene) tests(pkg string) (names []string) {
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		if strings.HasPrefix(path, pkg+"/") && strings.HasSuffix(path, "_test.go") && strings.Count(path, "/") == strings.Count(pkg, "/")+1 {
			for _, m := range testFunc.FindAllStringSubmatch(s.files[path], -1) {
				names = append(names, m[1])
			}
		}
	}
	return append(names, unseenTests[pkg]...)
}

var allPackages = []string{"auth", "carriers/dhl", "carriers/dpd", "carriers/postnord", "config", "internal/backoff", "internal/clock", "labels", "server"}

var unseenTests = map[string][]string{
	"carriers/dhl":      {"TestCreateParcel", "TestCancelParcel", "TestTrackingStates", "TestAddressTooLong", "TestCustomsForm", "TestSandboxFlag", "TestLabelFormats"},
	"carriers/dpd":      {"TestCreateParcel", "TestPickupSlots", "TestDepotRouting", "TestXMLFaults", "TestTrackingStates"},
	"carriers/postnord": {"TestCreateParcel", "TestServicePoints", "TestTrackingStates", "TestPartyIDs", "TestErrorsOfTheirs"},
	"config":            {"TestParseWholeFile", "TestParseErrors", "TestDefaultsAreValid", "TestCarrierSections"},
	"internal/clock":    {"TestFakeWakesInOrder", "TestFakeSleepEndsWithContext", "TestRealSleep"},
	"labels":            {"TestZPL", "TestPDFPageSizes", "TestBarcodeChecksum", "TestUmlautsInAddresses", "TestRotate"},
	"server": {"TestRoutes", "TestLimitPerCarrier", "TestBodyTooLarge", "TestTimeoutIs504", "TestNoTokenIs401", "TestHeadersArePassed",
		"TestHopByHopHeadersAreNot", "TestRequestID", "TestMetricsOrder", "TestShutdownWaits", "TestPanicIs500", "TestGzip", "TestIdempotencyKey"},
}

var subtests = map[string][]string{
	"TestTrackingStates":   {"announced", "in_transit", "out_for_delivery", "delivered", "returned", "lost"},
	"TestAddressTooLong":   {"name", "street", "city", "company"},
	"TestLabelFormats":     {"pdf_a6", "pdf_a4", "zpl_203dpi", "zpl_300dpi", "png"},
	"TestParseErrors":      {"no_equals_sign", "unknown_key", "unknown_section", "bad_duration", "bad_number", "empty_section"},
	"TestRoutes":           {"POST_/v1/parcels", "GET_/v1/parcels/{id}", "DELETE_/v1/parcels/{id}", "GET_/v1/parcels/{id}/label", "GET_/v1/rates", "GET_/healthz", "GET_/metrics", "unknown_is_404", "wrong_method_is_405"},
	"TestHeadersArePassed": {"Accept-Language", "Content-Type", "If-None-Match", "Traceparent"},
	"TestXMLFaults":        {"soap_1.1", "soap_1.2", "html_error_page", "empty_body"},
	"TestPDFPageSizes":     {"a4", "a5", "a6", "letter"},
	"TestIdempotencyKey":   {"same_key_same_body", "same_key_other_body", "expired_key", "no_key"},
}
