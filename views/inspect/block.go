package inspect

import (
	"context"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Block is what became of one block of a pack.
type Block struct {
	ID     string `json:"id"`
	Source string `json:"source,omitempty"` // where the whole stands
	Kind   string `json:"kind,omitempty"`
	Phase  string `json:"phase,omitempty"`
	Shown  bool   `json:"shown"` // it stands in the pack, all of it or cut
	Cut    bool   `json:"cut"`
	Stale  bool   `json:"stale,omitempty"`
	Asked  int    `json:"asked_tokens"` // about, where it is cut
	Given  int    `json:"given_tokens"`
	Left   int64  `json:"left_out_bytes"`
	Why    string `json:"why,omitempty"` // it is cut or missing
	// Rule is what the recipe says of the source, where that is known to the caller.
	Rule string `json:"rule,omitempty"`
}

// Block returns what became of a block in the present pack: by its id, or by the path of its file. It fails with
// ctxabi.ErrNotFound when the pack says nothing of it.
func (h *History) Block(ctx context.Context, name string) (*Block, error) {
	p, err := h.At(ctx, h.Len())
	if err != nil {
		return nil, err
	}
	if b, ok := p.Block(name); ok {
		return b, nil
	}
	return nil, ctxabi.E("read", ctxabi.PackJSONFile, ctxabi.ErrNotFound, "this pack has no block %q and reports none; its blocks are %s", name, strings.Join(p.blockIDs(), ", "))
}

// Block finds a block by its id or the path of its file.
func (p *Pack) Block(name string) (*Block, bool) {
	if b, ok := p.blockBy(func(id, _ string) bool { return id == name }); ok {
		return b, true
	}
	if b, ok := p.pastBlock(name); ok {
		return b, true
	}
	path := strings.TrimPrefix(name, ctxabi.ContextDir+"/")
	return p.blockBy(func(_, source string) bool {
		return source == name || strings.TrimPrefix(source, ctxabi.ContextDir+"/") == path || strings.TrimLeft(source, "./") == name
	})
}

// pastBlock returns the blocks that represent compacted records and have this name, or the single
// block with this ID. Each compaction since the last major compaction may add a block of the same
// name.
func (p *Pack) pastBlock(name string) (*Block, bool) {
	var b *Block
	var sources []string
	for _, it := range p.Items {
		if !it.Extra || it.Phase != "journal" {
			continue
		}
		title, source := pastBlocks[it.Kind], scheme(it.isEvent())+":"+it.Range
		if name != title && name != it.Kind && name != title+" ("+source+")" {
			continue
		}
		if b == nil {
			b = &Block{ID: name, Kind: it.Kind, Phase: it.Phase, Shown: true}
		}
		b.Given, b.Asked = b.Given+it.Tokens, b.Asked+it.Tokens
		sources = append(sources, source)
	}
	if b == nil {
		return nil, false
	}
	b.Source = strings.Join(sources, ", ")
	return b, true
}

// isEvent reports whether the item represents records of events.jsonl.
func (it *Item) isEvent() bool {
	event, _ := ofLog(it.Source)
	return event
}

func (p *Pack) blockBy(is func(id, source string) bool) (*Block, bool) {
	var b *Block
	for _, it := range p.Items {
		if it.isBlock() && is(it.ID, it.Source) {
			b = &Block{ID: it.ID, Source: it.Source, Kind: it.Kind, Phase: it.Phase, Shown: true, Cut: it.Cut, Stale: it.Stale, Asked: it.Tokens, Given: it.Tokens}
			break
		}
	}
	for _, o := range p.Omitted {
		if _, records := ofLog(o.Source); records && o.Range != "" || b == nil && !is(o.ID, o.Source) || b != nil && o.ID != b.ID {
			continue
		}
		if b == nil {
			b = &Block{ID: o.ID, Source: o.Source}
		}
		b.Asked, b.Left, b.Why = b.Given+o.TokensEst, o.Bytes, o.Reason
		break
	}
	return b, b != nil
}

// isBlock reports whether an item is one of the blocks around the journal.
func (it *Item) isBlock() bool { return it.ID != "" && it.Phase != "journal" }

func (p *Pack) blockIDs() (ids []string) {
	for _, it := range p.Items {
		id := it.ID
		if it.Extra && it.Phase == "journal" {
			id = pastBlocks[it.Kind]
		}
		if (it.isBlock() || it.Extra) && id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, o := range p.Omitted {
		if o.ID != "" && !slices.Contains(ids, o.ID) {
			ids = append(ids, o.ID)
		}
	}
	if len(ids) == 0 {
		ids = []string{"none"}
	}
	return ids
}
