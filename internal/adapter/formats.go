package adapter

// formats has every format there is; a file of its own has each of them. One that keeps records as they are keeps all of their keys.
var formats = []*Format{
	claudeCode,
	native,
	codex,
	responses,
	openAI,
	anthropic,
	openHands,
	atif,
	sweAgent,
	miniAgent,
}

func init() {
	for _, f := range formats {
		if !f.Verbatim {
			f.Import = reportsTwice(f.Import)
		}
	}
}
