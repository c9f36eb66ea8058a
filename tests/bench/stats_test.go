package bench

import (
	"math"
	"math/rand/v2"
	"slices"
)

// samples are the figures of one measurement by place: one a round, or one an operation.
type samples map[string][]float64

func (s samples) add(place string, v ...float64) { s[place] = append(s[place], v...) }

// figures returns a percentile of each place.
func (s samples) figures(p float64) map[string]float64 {
	m := map[string]float64{}
	for place, v := range s {
		m[place] = percentile(v, p)
	}
	return m
}

func median(v []float64) float64 { return percentile(v, 50) }

// percentile returns the value below which p of a hundred values lie, the mean of the two in the middle for the median of
// an even number, 0 of none.
func percentile(v []float64, p float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Clone(v)
	slices.Sort(v)
	if p == 50 && len(v)%2 == 0 {
		return (v[len(v)/2-1] + v[len(v)/2]) / 2
	}
	return v[min(len(v)-1, int(float64(len(v))*p/100))]
}

// interval returns the ends of the 95 % interval of the ratio of two percentiles, by bootstrap: the ratios of resamples.
// Values of one round stay together where both sides have as many. The choices are the same in each run.
func interval(a, b []float64, p float64) (low, high float64) {
	if len(a) < 2 || len(b) < 2 {
		return 0, 0
	}
	rnd := rand.New(rand.NewPCG(1, 95))
	resamples := 2000
	if len(a) > 100 {
		resamples = 400
	}
	x, y := make([]float64, len(a)), make([]float64, len(b))
	var ratios []float64
	for range resamples {
		for i := range x {
			k := rnd.IntN(len(a))
			x[i] = a[k]
			if len(a) == len(b) {
				y[i] = b[k]
			}
		}
		if len(a) != len(b) {
			for i := range y {
				y[i] = b[rnd.IntN(len(b))]
			}
		}
		if d := percentile(y, p); d > 0 {
			ratios = append(ratios, percentile(x, p)/d)
		}
	}
	return percentile(ratios, 2.5), percentile(ratios, 97.5)
}

// fit returns the constant and the slope of the line through points, each of which weighs by what share of itself it lies
// beside the line: so small figures count as much as large ones. Neither is below 0.
func fit(x, y []float64) (constant, slope float64) {
	line := func(useConstant, useSlope bool) (c, s, loss float64) {
		var w, wx, wxx, wy, wxy float64
		for i := range x {
			k := 1 / (y[i] * y[i])
			w, wx, wxx, wy, wxy = w+k, wx+k*x[i], wxx+k*x[i]*x[i], wy+k*y[i], wxy+k*x[i]*y[i]
		}
		switch {
		case useConstant && useSlope:
			s = (w*wxy - wx*wy) / (w*wxx - wx*wx)
			c = (wy - s*wx) / w
		case useConstant:
			c = wy / w
		default:
			s = wxy / wxx
		}
		for i := range x {
			loss += math.Pow((c+s*x[i]-y[i])/y[i], 2)
		}
		return c, s, loss
	}
	c, s, _ := line(true, true)
	if c >= 0 && s >= 0 {
		return c, s
	}
	level, _, besideLevel := line(true, false)
	_, rise, besideRise := line(false, true)
	if besideLevel <= besideRise {
		return level, 0
	}
	return 0, rise
}
