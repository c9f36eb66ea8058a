package pack

import "github.com/ctxfs/ctxfs/ctxabi"

// planText gives the plan's goal, how far it is and what comes next; "" when it says none of these.
func planText(plan *ctxabi.Plan) string { return "" }

// errorsText lists failures, newest last, equal ones once with their count.
func errorsText(events []ErrorEvent, fits func(string) bool) string { return "" }
