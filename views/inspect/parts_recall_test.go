package inspect

import "testing"

// What is recalled in the footer is that block's, and no record of the conversation.
func TestARecalledRecordIsNotTakenForOneOfTheConversation(t *testing.T) {
	p := takeApart("# Context Block: conversation\n## 1 user\nask\n## 2-90 left out: 89 records, about 900 tokens, context/line/<number>\n## 91 user\nnow\n" +
		"# Context Block: recall\nParts of old records:\n## 41 tool read_file (recalled)\nold words\n# Context Block: goal\nProgress 1/2.\n")
	if len(p.order) != 2 || p.records[Address{N: 41}] != "" {
		t.Errorf("records %v, of which 41 is %q", p.order, p.records[Address{N: 41}])
	}
	if text, _ := p.block("recall"); text != "# Context Block: recall\nParts of old records:\n## 41 tool read_file (recalled)\nold words\n" {
		t.Errorf("the block is %q", text)
	}
	if len(p.gaps) != 1 {
		t.Errorf("gaps %v", p.gaps)
	}
}
