package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/ctxfs/ctxfs/cluster/keep"
	"github.com/ctxfs/ctxfs/cluster/member"
	"github.com/ctxfs/ctxfs/views/doctor"
)

// Check returns the findings of doctor about the cluster of this machine: whether the servers
// answer, whether uids agree, and the problems of ctxfs cluster status. It returns nil if the
// machine belongs to no cluster.
func Check(ctx context.Context) (found []doctor.Finding) {
	m, err := member.Read(clusterDir(""))
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	s := keep.Look(ctx, m)
	for _, x := range s.Servers {
		f := doctor.Finding{Check: "cluster", State: doctor.OK, Text: fmt.Sprintf("server %s at %s: %s, answers in %v", x.Name, x.Address, x.Version, x.Took.Round(time.Millisecond))}
		if !x.Answers {
			f.State, f.Text, f.Remedy = doctor.Note, fmt.Sprintf("server %s at %s does not answer: %s", x.Name, x.Address, x.Why), "ctxfs cluster serve on that machine"
		}
		found = append(found, f)
	}
	if err := m.CheckUids(); err != nil {
		found = append(found, doctor.Finding{Check: "cluster", State: doctor.Note, Text: err.Error(), Remedy: "usermod -u UID NAME on this machine, or on the others"})
	}
	if s.Attest != nil {
		if off := time.Since(s.Attest.At).Round(time.Second); off < -time.Minute || off > 5*time.Minute {
			found = append(found, doctor.Finding{Check: "cluster", State: doctor.Note, Text: fmt.Sprintf("the last look at all replicas was %v ago by the clocks of %s and of this machine: a clock is wrong, or nobody looks", off, s.Attest.By), Remedy: "chronyc tracking; ctxfs cluster status"})
		}
	}
	for _, p := range s.Problems {
		found = append(found, doctor.Finding{Check: "cluster", State: doctor.Note, Text: p, Remedy: "ctxfs cluster status"})
	}
	return found
}
