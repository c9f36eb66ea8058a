package exam

import (
	"math/rand/v2"
	"slices"
)

// resamples is how often the questions are drawn anew for an interval.
const resamples = 10000

// interval returns the mean of paired differences and the interval that holds it in 95 of 100 cases, by a bootstrap over
// the questions: the same each time for the same differences. Of less than two differences the interval is the mean.
func interval(differences []float64) (mean, low, high float64) {
	mean = meanOf(differences)
	n := len(differences)
	if n < 2 {
		return mean, mean, mean
	}
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range n {
			sum += differences[rng.IntN(n)]
		}
		means[i] = sum / float64(n)
	}
	slices.Sort(means)
	return mean, means[resamples*25/1000], means[resamples*975/1000-1]
}

func meanOf(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
