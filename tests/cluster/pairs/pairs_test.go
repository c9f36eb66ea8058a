// Package pairs runs tests that were written for one mount with mounts of a cluster: most with two, the clients of
// each test spread over both (see harness.PairEnv), and those of POSIX with one.
//
//	CTXFS_MATRIX=1 go test ./tests/cluster/pairs                        those that are chosen, as the matrix does
//	PAIRS=all CTXFS_MATRIX=1 go test -timeout 60m ./tests/cluster/pairs all tests of these packages
//	PAIRS="./tests/perm ./tests/gc" ...                                 all tests of some packages
//	PAIRS=./tests/child PAIRS_RUN='^TestALink' ...                      some of them
package pairs

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// suites are packages whose tests run so, on how many mounts, and which of their tests the matrix runs and leaves out.
var suites = []struct {
	pkg       string
	mounts    int
	run, skip string
}{
	{"./tests/append", 2, "^(TestProgramsAppend|TestFlushAfterEachHalf)$", ""},
	{"./tests/child", 2, "^(TestALinkFollowsItsSession|TestARemovedSessionLeavesItsResult|TestSessionShowTellsOfChildren|TestManyClientsWriteAChild)$", ""},
	{"./tests/gc", 2, "^(TestPacksExpireUnderAReader|TestASessionIsRemovedByPolicyAlone)$", ""},
	{"./tests/pack", 2, "^(TestTheAgentsOwnFiles|TestRepeatsThroughTheMount|TestInASpaceTheOwnerSaysWhatHeTrusts)$", ""},
	{"./tests/perm", 2, "^(TestASharedSpaceBelongsToItsGroup|TestAnOrdinaryUsersOwnMount|TestAMemberCollectsNothingOfAnother)$", ""},
	{"./tests/posix", 1, "^TestPosix$", "TestPosix/OpenSymlinkRace|TestPosix/memory/OpenSymlinkRace"},
}

// Why tests cannot run so.
const (
	artifacts = "artifacts of children are of the host that wrote them"
	blobs     = "a blob of a cluster stays for two hours after its last use, whatever the policy"
	ofHost    = "errors.jsonl, counts in status, and files of an agent's home that hosts do not share are of one host"
	ofStore   = "it looks into the store of the other host"
)

// leftOut are tests that cannot run so, and why.
var leftOut = map[string]string{
	"TestArtifactsAreOrdinaryFiles":                   artifacts,
	"TestToolsWalkOverChildren":                       artifacts,
	"TestAForkTakesTheChildrenAlong":                  artifacts,
	"TestTheFilesThatAChildBringsReachItsParent":      artifacts,
	"TestAnotherUsersSessionIsAsIfNotThere":           artifacts,
	"TestChildrenInASharedSpace":                      artifacts,
	"TestAForkGivesNoPrivateFileAway":                 artifacts,
	"TestHugeFilesAndDeepDirectoriesHoldNothingUp":    blobs,
	"TestWhatProtectsABlob":                           blobs,
	"TestAPolicyTakesEffectWhenItIsWritten":           blobs,
	"TestTheLoopCollects":                             blobs,
	"TestAnotherUserCollectsNothing":                  blobs,
	"TestAPackThatNothingChangedIsTheSame":            ofHost,
	"TestAnOrdinaryUserWithAShell":                    ofHost,
	"TestEachInputIsSeenByTheNextReadThroughTheMount": ofHost,
	"TestTheReportCouldNotBeReadWhenASourceIsMissing": ofHost,
	"TestTheLastGoodRecipeSurvivesTheDaemon":          "each life of a mount of a cluster reports a wrong recipe once",
	"TestPlantedSymlinksLeadNowhereForTheDaemon":      ofStore,
	"TestExtremesThroughTheMount":                     "its mount goes on while other tests have their turn, and the name of a host is one mount's",
}

// TestSuitesOverTwoMounts runs them.
func TestSuitesOverTwoMounts(t *testing.T) {
	suite.Matrix(t, "three servers, and tests of other packages")
	c := servers.Start(t)
	empty := emptier(t, c)
	args := [][]string{}
	for _, user := range []string{"a", "b"} {
		args = append(args, append(public(t, c, mounts.Args(t, c, user)), "--freshness", "0"))
	}
	var out []string
	for name := range leftOut {
		out = append(out, "^"+strings.ReplaceAll(name, "/", "$/^")+"$")
	}
	slices.Sort(out)
	all := strings.Fields(os.Getenv("PAIRS"))
	for _, s := range suites {
		run, skip := s.run, slices.Clone(out)
		if s.skip != "" {
			skip = append(skip, s.skip)
		}
		if slices.Contains(all, "all") || slices.Contains(all, s.pkg) {
			run, skip = os.Getenv("PAIRS_RUN"), out
		} else if len(all) > 0 {
			continue
		}
		t.Run(s.pkg, func(t *testing.T) {
			// A look at the cluster waits for half a second at most and shows then what there is. A machine that is busy
			// for longer lets a test see that, which is no failure; what is wrong is so each time.
			env := append(os.Environ(), harness.PairEnv+"="+serve(t, empty, args[:s.mounts]), "CTXFS_BIN="+harness.Binary(t), "CTXFS_MATRIX=")
			for left := 2; ; left-- {
				cmd := exec.Command("go", "test", "-count=1", "-v", "-parallel=1", "-timeout=40m", "-run", run, "-skip", strings.Join(skip, "|"), s.pkg)
				cmd.Dir, cmd.Env = harness.Root(), env
				out, err := cmd.CombinedOutput()
				t.Logf("%s", out)
				if err == nil {
					return
				}
				if left == 0 {
					t.Fatal(err)
				}
			}
		})
	}
}

// serve returns a socket on which tests are told the flags of their mounts, each time of an empty cluster.
func serve(t *testing.T, empty func() error, args [][]string) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "pairs")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if err := empty(); err != nil {
				t.Error(err)
			} else {
				json.NewEncoder(conn).Encode(args)
			}
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-served
	})
	return socket
}

// public returns flags of a mount that name copies of the same files, which every user may read.
func public(t *testing.T, c *servers.Cluster, args []string) []string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctxfs-pairs-") // which t.TempDir closes to others
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range args {
		if !strings.HasPrefix(file, c.Dir+"/") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		args[i] = filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(args[i], data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return args
}

// emptier returns a function that removes all entries of a cluster that no host uses.
func emptier(t *testing.T, c *servers.Cluster) func() error {
	t.Helper()
	o := c.Options(t, "maintenance")
	k, err := client.Connect(o.Servers[0], append(o.Auth, client.CustomInboxPrefix(nats.Inbox("maintenance")))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return func() error {
		streams := []string{"CTXT"}
		for shard := range engine.Shards {
			streams = append(streams, fmt.Sprintf("CTXJ_%02x", shard))
		}
		for _, name := range streams {
			m, err := k.Request("$JS.API.STREAM.PURGE."+name, nil, time.Minute)
			if err != nil || strings.Contains(string(m.Data), `"error"`) {
				return fmt.Errorf("%s is not emptied: %v %s", name, err, m.Data)
			}
		}
		return nil
	}
}
