package result

// matchLines returns for each line of b the number of the line of a that it is, -1 for one that
// is new: a longest common subsequence by key (Myers, An O(ND) Difference Algorithm, 1986). ok
// is false if more than edits lines came or went.
func matchLines(a, b []string, key func(string) string, edits int) (of []int, ok bool) {
	number := map[string]int32{}
	ids := func(lines []string) []int32 {
		out := make([]int32, len(lines))
		for i, l := range lines {
			k := key(l)
			n, ok := number[k]
			if !ok {
				n = int32(len(number))
				number[k] = n
			}
			out[i] = n
		}
		return out
	}
	x, y := ids(a), ids(b)
	of = make([]int, len(b))
	for i := range of {
		of[i] = -1
	}
	begin := 0
	for begin < len(x) && begin < len(y) && x[begin] == y[begin] {
		of[begin] = begin
		begin++
	}
	endX, endY := len(x), len(y)
	for endX > begin && endY > begin && x[endX-1] == y[endY-1] {
		endX--
		endY--
		of[endY] = endX
	}
	x, y = x[begin:endX], y[begin:endY]
	if len(x) == 0 || len(y) == 0 {
		return of, true
	}
	path, ok := shortestEdit(x, y, edits)
	for _, m := range path {
		of[begin+m[1]] = begin + m[0]
	}
	return of, ok
}

// shortestEdit returns the pairs of places that a longest common subsequence of x and y joins;
// ok is false if more than edits elements came or went.
func shortestEdit(x, y []int32, edits int) (pairs [][2]int, ok bool) {
	n, m := len(x), len(y)
	most := min(edits, n+m)
	far := make([]int32, 2*most+3) // by diagonal: how far x is used
	at := func(k int) int { return k + most + 1 }
	var trace [][]int32 // far before each round, the diagonals that it looked at
	for d := 0; d <= most; d++ {
		trace = append(trace, append([]int32(nil), far[at(-d-1):at(d+1)+1]...))
		for k := -d; k <= d; k += 2 {
			i := int(far[at(k+1)])
			if k != -d && (k == d || far[at(k-1)] >= far[at(k+1)]) {
				i = int(far[at(k-1)]) + 1
			}
			j := i - k
			for i < n && j >= 0 && j < m && x[i] == y[j] {
				i++
				j++
			}
			far[at(k)] = int32(i)
			if i >= n && j >= m {
				return backtrack(trace, n, m), true
			}
		}
	}
	return nil, false
}

func backtrack(trace [][]int32, i, j int) (pairs [][2]int) {
	for d := len(trace) - 1; d >= 0; d-- {
		far := func(k int) int { return int(trace[d][k+d+1]) }
		k := i - j
		from := k + 1
		if k != -d && (k == d || far(k-1) >= far(k+1)) {
			from = k - 1
		}
		pi := far(from)
		if d == 0 {
			pi = 0
		}
		pj := pi - from
		if d == 0 {
			pj = 0
		}
		for i > pi && j > pj {
			i--
			j--
			pairs = append(pairs, [2]int{i, j})
		}
		i, j = pi, pj
	}
	return pairs
}
