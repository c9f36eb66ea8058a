package adapter

import "fmt"

// Tally counts what is lost by its kind, so that each is named once.
type Tally struct {
	kinds []string
	count map[string]int
	first map[string]string
}

func (l *Tally) Add(where, what string) {
	if l.count == nil {
		l.count, l.first = map[string]int{}, map[string]string{}
	}
	if l.count[what]++; l.count[what] == 1 {
		l.kinds, l.first[what] = append(l.kinds, what), where
	}
}

// Report names each kind, in the order in which they came.
func (l *Tally) Report(to func(Loss)) {
	for _, what := range l.kinds {
		where := l.first[what]
		if n := l.count[what]; n > 1 {
			where = fmt.Sprintf("%d times, first in %s", n, where)
		}
		to(Loss{where, what})
	}
}
