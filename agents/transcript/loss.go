package transcript

import "github.com/ctxfs/ctxfs/agents/adapter"

// Losses are what transcripts, or a format, could not carry, in the order in which they were met.
type Losses []Loss

// Loss is one of them, as a row of --losses.
type Loss struct {
	File  string `json:"file,omitempty"` // the transcript, "" for none
	Where string `json:"where"`
	What  string `json:"what"`
}

// Add appends a loss of the transcript file.
func (l *Losses) Add(file string, loss adapter.Loss) {
	*l = append(*l, Loss{file, loss.Where, loss.What})
}

// OneFile forgets the names of files, where there is but one.
func (l Losses) OneFile() {
	for i := range l {
		l[i].File = ""
	}
}
