package inspect

import (
	"context"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Block reports how a pack shows a block, and all blocks of its name.
type Block struct {
	ID     string `json:"id"`
	Source string `json:"source,omitempty"` // where the whole content is stored
	Kind   string `json:"kind,omitempty"`
	Phase  string `json:"phase,omitempty"`
	Shown  bool   `json:"shown"` // pack.md contains at least one block of this name
	Cut    bool   `json:"cut"`
	Stale  bool   `json:"stale,omitempty"`
	// Asked is an estimate if the block is cut. 0: not known, as for blocks that represent records.
	Asked int    `json:"asked_tokens,omitempty"`
	Given int    `json:"given_tokens"` // of all blocks of this name
	Left  int64  `json:"left_out_bytes"`
	Why   string `json:"why,omitempty"` // why it is cut or missing
	// Rule is the entry of the source in the recipe, if the caller knows it.
	Rule string `json:"rule,omitempty"`
	// Generations are the blocks of this name, if they represent records or contain them.
	Generations []Generation `json:"generations,omitempty"`
}

// Block finds a block of the present pack by its id or by the path of its file. It fails with
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

// Block finds the blocks with a name, the block with an ID, or the block of a file. The name of
// blocks that represent compacted records may also be their kind in pack.json: "key_lines".
func (p *Pack) Block(name string) (*Block, bool) {
	b, ok := p.blockBy(func(id, _ string) bool { return id == name })
	list := p.Generations(name)
	if !ok && len(list) == 0 {
		list = p.Generations(pastBlocks[name])
	}
	ranged := slices.ContainsFunc(list, func(g Generation) bool { return g.Range != "" })
	if ranged || len(list) > 0 && (name == conversation || name == leading) {
		if !ok {
			b = &Block{ID: name, Kind: kindOf(list[0]), Phase: "journal"}
		}
		if name == leading {
			b.Phase = "stable"
		}
		b.Shown, b.Given, b.Generations = true, tokensOf(list), list
		return b, true
	}
	if ok {
		return b, true
	}

	path := strings.TrimPrefix(name, ctxabi.ContextDir+"/")
	return p.blockBy(func(_, source string) bool {
		return source == name || strings.TrimPrefix(source, ctxabi.ContextDir+"/") == path || strings.TrimLeft(source, "./") == name
	})
}

// kindOf returns the kind that items of a block have in pack.json. It returns "" if the block does
// not represent compacted records.
func kindOf(g Generation) string {
	name, _ := SplitBlockID(g.ID)
	for kind, title := range pastBlocks {
		if title == name {
			return kind
		}
	}
	return ""
}

// blockBy returns the first block for which is returns true, with all of its items that is accepts.
func (p *Pack) blockBy(is func(id, source string) bool) (*Block, bool) {
	var b *Block
	var sources []string
	for _, it := range p.Items {
		if !it.isBlock() || !is(it.ID, it.Source) || b != nil && it.ID != b.ID {
			continue
		}
		if b == nil {
			b = &Block{ID: it.ID, Kind: it.Kind, Phase: it.Phase, Shown: true}
		}
		b.Cut, b.Stale, b.Given = b.Cut || it.Cut, b.Stale || it.Stale, b.Given+it.Tokens
		if !slices.Contains(sources, it.Source) {
			sources = append(sources, it.Source)
		}
	}
	if b != nil {
		b.Source = strings.Join(sources, ", ")
		if !b.Cut {
			b.Asked = b.Given
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

// blockIDs returns the names of blocks in the order of pack.md, then the IDs of missing blocks.
func (p *Pack) blockIDs() (ids []string) {
	for _, b := range p.parts.blocks {
		if name, _ := SplitBlockID(b.id); !slices.Contains(ids, name) {
			ids = append(ids, name)
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
