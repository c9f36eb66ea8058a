package fs

import "testing"

func TestTwoNodesOfOneNumberAreTwoFiles(t *testing.T) {
	n := numbers{fold: func(node uint64) uint64 { return node % 10 }}
	if a := n.take(15); a != 5 {
		t.Errorf("the first has %d, want 5", a)
	}
	b := n.take(25)
	if b == 5 || b < 2 || b > largestNumber {
		t.Errorf("the second has %d", b)
	}
	if again := n.take(25); again != b || n.of(25) != b || n.of(15) != 5 {
		t.Errorf("the second has %d, then %d and %d", b, again, n.of(25))
	}
	if c := n.take(35); c == b || c == 5 {
		t.Errorf("the third has %d", c)
	}
	n.forget(15, 1) // 5 is free
	if d := n.take(45); d != 5 {
		t.Errorf("a later one has %d, want 5", d)
	}
	if n.of(25) != b {
		t.Errorf("the second changed its number while the kernel has it: %d, then %d", b, n.of(25))
	}
	n.forget(25, 1)
	if n.of(25) != b {
		t.Error("it was forgotten too early")
	}
	n.forget(25, 1)
	n.forget(45, 1)
	if again := n.take(25); again != 5 {
		t.Errorf("it has %d when nobody else has 5", again)
	}
	n.forget(25, 1)
	n.forget(35, 1)
	n.forget(35, 1) // of a node that it does not know
	if len(n.taken) > 0 || len(n.moved) > 0 {
		t.Errorf("%v and %v are left", n.taken, n.moved)
	}
}

func TestNumbersAreThoseOfJavaScript(t *testing.T) {
	var n numbers
	for _, node := range []uint64{1<<64 - 1, 1 << 63, plainBit | 1<<53, hashIno(classContent, "a", "b"), treeAttr(0, "home").Ino, 2, 0, 1 << 53} {
		if got := n.take(node); got < 2 || got > 9007199254740991 {
			t.Errorf("%x is shown as %d", node, got)
		}
	}
	if numberOf(1) != 1 {
		t.Errorf("the root is shown as %d", numberOf(1))
	}
}
