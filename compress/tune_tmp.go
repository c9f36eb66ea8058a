package compress

import (
	"os"
	"strconv"
	"strings"
)

var tunes = func() map[string]int {
	m := map[string]int{}
	for _, kv := range strings.Split(os.Getenv("TUNE"), ",") {
		if k, v, ok := strings.Cut(kv, "="); ok {
			m[k], _ = strconv.Atoi(v)
		}
	}
	return m
}()

func Tune(k string, def int) int {
	if v, ok := tunes[k]; ok {
		return v
	}
	return def
}
