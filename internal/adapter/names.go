package adapter

// The names of formats that more than one of them has to know.
const (
	openAIName    = "openai"
	anthropicName = "anthropic"
	responsesName = "responses"
	openHandsName = "openhands"
	sweAgentName  = "sweagent"
)

// The ends of the types of events, behind the name of the format.
const (
	documentEvent  = "/document" // what stands around messages or items
	openHandsArray = "/array"    // a conversation was an array
)
