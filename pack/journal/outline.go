package journal

import (
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// outlineAt returns what native renderings must know of the record at a place of m without its texts. r is how pack.md shows it.
func outlineAt(m record.Records, at int, r rendered) (ctxabi.Role, []record.Portion, error) {
	log, a := m, record.AddressOf(m, at)
	if t, ok := m.(*record.Merged); ok {
		log = t.Log(a)
	}
	shown := ""
	if r.how != "" && r.instead == nil {
		shown = r.text
	}
	turn := 0
	role, list, err := record.ContentsOf(log, a, shown, r.instead, func() int {
		if turn == 0 {
			turn = max(1, record.TurnOf(log, a.Line))
		}
		return turn
	})
	for i := range list {
		c := &list[i]
		data := c.Data
		if c.Kind == record.DataPortion && record.ShowsImages(role) {
			data = [][]byte{c.Raw}
		}
		for _, raw := range data {
			im := record.ReadImage(raw)
			c.Cost += im.Tokens()
			c.Images = append(c.Images, im.Picture)
		}
		c.Forget()
	}
	if list == nil {
		list = []record.Portion{} // a record without parts is one nevertheless
	}
	return role, list, err
}

// CostOf is what the images of a record cost.
func CostOf(contents []record.Portion) (n int) {
	for i := range contents {
		n += contents[i].Cost
	}
	return n
}
