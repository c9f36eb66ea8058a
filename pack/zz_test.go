package pack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestZZ(t *testing.T) {
	files, _ := filepath.Glob("/work/shared/data/sessions/" + os.Getenv("ZZ"))
	nf := 0
	for _, f := range files {
		raw, _ := os.ReadFile(f)
		l := logOf(strings.Split(strings.TrimSpace(string(raw)), "\n")...)
		n, err := newFinds(nil).at(context.Background(), l, l.Len(), nil)
		if err != nil {
			t.Fatal(err)
		}
		nf += len(n.facts)
		for _, d := range n.decisions {
			fmt.Println(filepath.Base(f), d.Source, d.By, d.Decision)
		}
		if os.Getenv("ZF") != "" {
			for _, d := range n.facts {
				fmt.Println(filepath.Base(f), "FACT", d.Source, d.Text)
			}
		}
	}
	fmt.Println(nf, "facts")
}
