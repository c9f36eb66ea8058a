package adapter

// The names of formats that more than one of them has to know.
const (
	OpenAIName    = "openai"
	AnthropicName = "anthropic"
	ResponsesName = "responses"
	ContentsName  = "gemini-contents"
	OpenHandsName = "openhands"
	SweAgentName  = "sweagent"

	ConverseName   = "converse"
	UIMessagesName = "ui-messages"
)

// The ends of the types of events, behind the name of the format.
const (
	DocumentEvent  = "/document" // what stands around messages or items
	OpenHandsArray = "/array"    // a conversation was an array
)
