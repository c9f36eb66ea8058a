package suite

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// Tests runs the tests of a package, as *testing.M does.
type Tests interface{ Run() int }

// Main runs the tests of a package and ends the process with their status.
func Main(m *testing.M) { os.Exit(Wrap(m).Run()) }

// Wrap returns tests that run like m with the seed of the run. Their Run
// returns 1 if m's does, or if a test that the matrix is to run was skipped
// there or is not one for the matrix. It is for a caller that does something
// before the process ends, such as goleak.VerifyTestMain.
func Wrap(m Tests) Tests { return wrapped{m} }

type wrapped struct{ Tests }

func (w wrapped) Run() int {
	if !flag.Parsed() {
		flag.Parse()
	}
	seedRapid()
	code := w.Tests.Run()
	if problems := matrixProblems(); code == 0 && len(problems) > 0 {
		for _, p := range problems {
			fmt.Println("FAIL: " + p)
		}
		return 1
	}
	return code
}
