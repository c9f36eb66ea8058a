package result

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
)

// broken is a test that fails, in words of a runner's output.
type broken struct{ name, message string }

// manyBroken are n failures, of which no two are alike.
func manyBroken(n int) (all []broken) {
	verbs := []string{"parses", "rounds", "refuses", "merges", "renews", "expires", "counts", "orders", "locks", "encodes"}
	nouns := []string{"invoice", "currency", "coupon", "ledger", "session", "webhook", "cursor", "tenant", "receipt"}
	faults := []string{"connection to db-%d refused", "key 'rate_%d' is missing", "value %d out of range", "token tok_%d has expired", "row %d was written twice", "quota of account %d exceeded"}
	for i := range n {
		all = append(all, broken{fmt.Sprintf("%s_%s_%d", verbs[i%10], nouns[i%9], i+3), fmt.Sprintf(faults[i%6], 100+37*i)})
	}
	return all
}

// runners write the output of a run in which one test of five fails.
var runners = map[string]struct {
	about Hint
	write func(b *strings.Builder, all []broken)
}{
	"pytest": {bash("pytest -v"), func(b *strings.Builder, all []broken) {
		fmt.Fprintf(b, "============================= test session starts ==============================\nplatform linux -- Python 3.12.3, pytest-8.2.0\ncollected %d items\n\n", 5*len(all))
		for i, f := range all {
			for k := range 4 {
				fmt.Fprintf(b, "tests/test_shop.py::test_fine_%d PASSED                [%3d%%]\n", 4*i+k, 100*i/len(all))
			}
			fmt.Fprintf(b, "tests/test_shop.py::test_%s FAILED                [%3d%%]\n", f.name, 100*i/len(all))
		}
		b.WriteString("\n=================================== FAILURES ===================================\n")
		for i, f := range all {
			fmt.Fprintf(b, "______________________________ test_%s ______________________________\n\n    def test_%s():\n        shop = make_shop(%d)\n>       assert shop.run() == %d\nE       ShopError: %s\n\ntests/test_shop.py:%d: ShopError\n", f.name, f.name, i, i, f.message, 10+7*i)
		}
		b.WriteString("=========================== short test summary info ============================\n")
		for _, f := range all {
			fmt.Fprintf(b, "FAILED tests/test_shop.py::test_%s - ShopError: %s\n", f.name, f.message)
		}
		fmt.Fprintf(b, "================== %d failed, %d passed in 3.21s ==================\n", len(all), 4*len(all))
	}},
	"unittest": {bash("python -m unittest"), func(b *strings.Builder, all []broken) {
		b.WriteString(strings.Repeat("....F", len(all)) + "\n")
		for i, f := range all {
			fmt.Fprintf(b, "======================================================================\nFAIL: test_%s (tests.test_shop.ShopTest.test_%s)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/app/tests/test_shop.py\", line %d, in test_%s\n    self.assertEqual(shop.run(), %d)\nAssertionError: %s\n\n", f.name, f.name, 10+7*i, f.name, i, f.message)
		}
		fmt.Fprintf(b, "----------------------------------------------------------------------\nRan %d tests in 0.812s\n\nFAILED (failures=%d)\n", 5*len(all), len(all))
	}},
	"go test": {bash("go test ./..."), func(b *strings.Builder, all []broken) {
		for i, f := range all {
			fmt.Fprintf(b, "--- FAIL: Test_%s (0.0%ds)\n    shop_test.go:%d: Run(): %s\n    shop_test.go:%d: state left behind: %d rows\n", f.name, i%10, 20+9*i, f.message, 21+9*i, 3*i)
		}
		b.WriteString("FAIL\nFAIL\texample.com/shop\t0.412s\nok  \texample.com/shop/money\t0.004s\nFAIL\n")
	}},
	"go test -v": {bash("go test -v ./..."), func(b *strings.Builder, all []broken) {
		for i, f := range all {
			for k := range 4 {
				fmt.Fprintf(b, "=== RUN   TestFine%d\n--- PASS: TestFine%d (0.00s)\n", 4*i+k, 4*i+k)
			}
			fmt.Fprintf(b, "=== RUN   Test_%s\n    shop_test.go:%d: Run(): %s\n--- FAIL: Test_%s (0.0%ds)\n", f.name, 20+9*i, f.message, f.name, i%10)
		}
		b.WriteString("FAIL\nFAIL\texample.com/shop\t0.412s\nFAIL\n")
	}},
	"jest": {bash("npx jest"), func(b *strings.Builder, all []broken) {
		b.WriteString("FAIL src/shop.test.js\n  shop\n")
		for i, f := range all {
			for k := range 4 {
				fmt.Fprintf(b, "    ✓ is fine %d (%d ms)\n", 4*i+k, k)
			}
			fmt.Fprintf(b, "    ✕ %s (%d ms)\n", f.name, i%9)
		}
		for i, f := range all {
			fmt.Fprintf(b, "\n  ● shop › %s\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: \"done %d\"\n    Received: \"%s\"\n\n      %d |   const shop = makeShop(%d);\n    > %d |   expect(shop.run()).toBe(\"done %d\");\n         |                      ^\n      %d | });\n\n      at Object.toBe (src/shop.test.js:%d:22)\n", f.name, i, f.message, 9+8*i, i, 10+8*i, i, 11+8*i, 10+8*i)
		}
		fmt.Fprintf(b, "\nTest Suites: 1 failed, 1 total\nTests:       %d failed, %d passed, %d total\nSnapshots:   0 total\nTime:        1.204 s\nRan all test suites.\n", len(all), 4*len(all), 5*len(all))
	}},
	"cargo": {bash("cargo test"), func(b *strings.Builder, all []broken) {
		fmt.Fprintf(b, "   Compiling shop v0.1.0 (/app)\n    Finished `test` profile [unoptimized + debuginfo] target(s) in 1.32s\n     Running unittests src/lib.rs (target/debug/deps/shop-5f9b)\n\nrunning %d tests\n", 5*len(all))
		for i, f := range all {
			for k := range 4 {
				fmt.Fprintf(b, "test tests::fine_%d ... ok\n", 4*i+k)
			}
			fmt.Fprintf(b, "test tests::%s ... FAILED\n", f.name)
		}
		b.WriteString("\nfailures:\n\n")
		for i, f := range all {
			fmt.Fprintf(b, "---- tests::%s stdout ----\n\nthread 'tests::%s' panicked at src/lib.rs:%d:9:\n%s\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n", f.name, f.name, 30+6*i, f.message)
		}
		b.WriteString("\nfailures:\n")
		for _, f := range all {
			fmt.Fprintf(b, "    tests::%s\n", f.name)
		}
		fmt.Fprintf(b, "\ntest result: FAILED. %d passed; %d failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.03s\n\nerror: test failed, to rerun pass `--lib`\n", 4*len(all), len(all))
	}},
	"TAP": {bash("node --test"), func(b *strings.Builder, all []broken) {
		b.WriteString("TAP version 13\n")
		for i, f := range all {
			for k := range 4 {
				fmt.Fprintf(b, "# Subtest: is fine %d\nok %d - is fine %d\n  ---\n  duration_ms: 0.%d\n  ...\n", 4*i+k, 5*i+k+1, 4*i+k, 100+k)
			}
			fmt.Fprintf(b, "# Subtest: %s\nnot ok %d - %s\n  ---\n  duration_ms: 0.%d\n  location: '/app/shop.test.mjs:%d:1'\n  failureType: 'testCodeFailure'\n  error: '%s'\n  code: 'ERR_ASSERTION'\n  stack: |-\n    TestContext.<anonymous> (file:///app/shop.test.mjs:%d:10)\n    Test.runInAsyncScope (node:async_hooks:206:9)\n  ...\n", f.name, 5*i+5, f.name, 200+i, 4+9*i, f.message, 5+9*i)
		}
		fmt.Fprintf(b, "1..%d\n# tests %d\n# pass %d\n# fail %d\n", 5*len(all), 5*len(all), 4*len(all), len(all))
	}},
}

// A run with failures shows their names, and then the messages, as far as the limit goes.
func TestManyFailuresAreNamed(t *testing.T) {
	counter, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		failures, limit int
		names, messages float64 // at least
	}{
		{5, 500, 1, 0.8}, {9, 500, 1, 0.6}, {14, 500, 0.85, 0.35}, {24, 500, 0.45, 0}, {24, 1000, 1, 0.5}, {60, 1500, 0.7, 0.2},
	} {
		all := manyBroken(c.failures)
		for _, name := range slices.Sorted(maps.Keys(runners)) {
			runner := runners[name]
			t.Run(fmt.Sprintf("%s with %d failures", name, c.failures), func(t *testing.T) {
				var b strings.Builder
				runner.write(&b, all)
				text := b.String()
				for _, count := range []func(string) int{nil, counter.Count} {
					limit := Limit{Tokens: c.limit, Count: count}
					if limit.Holds(text) {
						continue
					}
					kind := Recognise(text, runner.about)
					if kind != KindLog {
						t.Fatalf("recognised as %s", kind)
					}
					short, _, _ := Shorten(text, kind, runner.about, limit, path)
					if err := wrong(text, short, kind, limit); err != "" && count == nil {
						t.Errorf("%s:\n%s", err, short)
					}
					names, messages := 0.0, 0.0
					for _, f := range all {
						if strings.Contains(short, f.name) {
							names++
						}
						if strings.Contains(short, f.message) {
							messages++
						}
					}
					n := float64(len(all))
					if t.Logf("of %d tokens %d: names %.2f, messages %.2f", ctxabi.Weight(text), limit.of(short), names/n, messages/n); names/n < c.names || count != nil && messages/n < c.messages {
						t.Errorf("%.0f names and %.0f messages of %d are left:\n%s", names, messages, len(all), short)
					}
				}
			})
		}
	}
}
