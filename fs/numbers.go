package fs

import "sync"

// The kernel knows a node by its id, which has 64 bits (ids.go). What programs see is a number that JavaScript can hold and
// that no signed integer makes negative: below 2^53. It follows from the id. Two files that would have the same number would look
// like one with two names, so that of two nodes which the kernel has at the same time the second gets another; a listing shows the
// first choice all the same. No file is ever found by its number.
const largestNumber = 1<<53 - 1

// numberOf folds a node's id.
func numberOf(node uint64) uint64 { return (node ^ node>>53) & largestNumber }

// numbers knows which numbers are taken. Its zero value is ready.
type numbers struct {
	fold func(node uint64) uint64 // nil: numberOf

	mu    sync.Mutex
	taken map[uint64]taker  // by number
	moved map[uint64]uint64 // node → number, where another node had its own first
}

type taker struct{ node, lookups uint64 }

// of is the number that a node is shown with.
func (n *numbers) of(node uint64) uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.find(node)
}

// find is of; mu is held.
func (n *numbers) find(node uint64) uint64 {
	if number, ok := n.moved[node]; ok {
		return number
	}
	if n.fold != nil {
		return n.fold(node)
	}
	return numberOf(node)
}

// take is of for a node that the kernel is given once more.
func (n *numbers) take(node uint64) uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	first := n.find(node)
	number := first
	for t, is := n.taken[number]; number < 2 || is && t.node != node; t, is = n.taken[number] { // 1 is the root's
		number = (number + 0x9E3779B97F4A7C15) & largestNumber
	}
	if n.taken == nil {
		n.taken, n.moved = map[uint64]taker{}, map[uint64]uint64{}
	}
	if number != first {
		n.moved[node] = number
	}
	n.taken[number] = taker{node, n.taken[number].lookups + 1}
	return number
}

// forget takes back that the kernel was given a node, so many times.
func (n *numbers) forget(node, lookups uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	number := n.find(node)
	t, is := n.taken[number]
	switch {
	case !is || t.node != node:
	case t.lookups > lookups:
		t.lookups -= lookups
		n.taken[number] = t
	default:
		delete(n.taken, number)
		delete(n.moved, node)
	}
}
