package pack

import "github.com/ctxfs/ctxfs/ctxabi"

// outlineAt gives what native renderings must know of the record at a place of m without its texts. r is how pack.md shows it.
func outlineAt(m Records, at int, r rendered) (ctxabi.Role, []portion, error) {
	log, a := m, addressOf(m, at)
	if t, ok := m.(*timeline); ok {
		log = t.log(a)
	}
	shown := ""
	if r.how != "" && r.instead == nil {
		shown = r.text
	}
	turn := 0
	role, list, err := contentsOf(log, a, shown, r.instead, func() int {
		if turn == 0 {
			turn = max(1, turnOf(log, a.n))
		}
		return turn
	})
	for i := range list {
		c := &list[i]
		if c.kind == aDatum {
			c.cost = tokensOfImage(c.raw)
		}
		for _, raw := range c.data {
			c.cost += tokensOfImage(raw)
		}
		c.forget()
	}
	if list == nil {
		list = []portion{} // a record without parts is one nevertheless
	}
	return role, list, err
}

// costOf is what the images of a record cost.
func costOf(contents []portion) (n int) {
	for i := range contents {
		n += contents[i].cost
	}
	return n
}
