package result

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// Recognise returns what a result is made of: by its content where that is plain, else by the call.
func Recognise(text string, about Hint) Kind {
	if isBinary(text) {
		return KindBinary
	}
	start := strings.TrimSpace(text[:min(len(text), sniffed)])
	tool, command := toolOf(about)
	switch {
	case mayBeJSON(start) && isJSON(text):
		if hits, _ := jsonHits(text, tool); hits != nil {
			return KindSearch
		}
		return KindJSON
	case isHTML(start):
		return KindHTML
	}
	sample := sampleOf(text)
	switch {
	case isDiff(sample):
		return KindDiff
	case isWebSearch(sample, tool):
		return KindSearch
	case command != "grep" && isRun(sample), share(sample, compress.IsProgress) > 0.3:
		return KindLog
	}
	if kind := kindOfCommand(command, about.Args, sample); kind != "" {
		return kind
	}
	switch {
	case compress.IsFileTool(tool):
		return KindFile
	case compress.IsMatchTool(tool) && matched(sample):
		return KindMatches
	case compress.IsListTool(tool):
		return KindListing
	case isTable(sample):
		return KindTable
	case matched(sample):
		return KindMatches
	case listed(sample):
		return KindListing
	case command != "" || compress.IsShellTool(tool) || runsCode(tool, about.Args) || failures(sample) > 0:
		return KindLog
	}
	return KindText
}

// kindOfCommand returns what a command prints; "" where its name does not say that.
func kindOfCommand(command, args string, sample []string) Kind {
	switch command {
	case "cat", "head", "tail", "sed", "nl", "less", "more", "bat", "open", "goto", "scroll_down", "scroll_up", "read", "view", "set_cursors":
		if !strings.Contains(args, ".log") && !strings.Contains(args, ".out") {
			return KindFile
		}
	case "grep", "rg", "ag", "ack":
		return KindMatches
	case "ls", "find", "tree", "fd", "du":
		if listed(sample) {
			return KindListing
		}
	}
	return ""
}
