package recipe

// examples has a value for each key of each object, as one writes it in a recipe; of a key with a fixed
// set of words any will do. The reference prints them, and a test reads each in a recipe.
var examples = map[string]string{
	"recipe.version":              `1`,
	"recipe.import":               `["./base.yaml", "@acme/context-base"]`,
	"recipe.strategy":             `reviewer`,
	"recipe.model":                `gpt-4o`,
	"recipe.encoding":             `cl100k_base`,
	"recipe.total_max_tokens":     `32000`,
	"recipe.reserve_tokens":       `4000`,
	"recipe.wait_ms":              `2000`,
	"recipe.history":              `{low: 0.7}`,
	"recipe.summarizer":           `{command: [python3, "${AGENT_HOME}/tools/summarize.py"], timeout_ms: 60000}`,
	"recipe.structural_variation": `true`,
	"recipe.env":                  `{TARGET_FILE: main.go}`,
	"recipe.messages":             `[{role: user, content: "Answer in one line."}]`,
	"recipe.strategies":           `{translator: {sections: [{name: Task, from: plan.task}]}}`,
	"recipe.sources":              `[{type: system_role}, {type: journal}]`,

	"history.high":      `0.9`,
	"history.low":       `0.7`,
	"history.key_lines": `0.3`,
	"history.min_gain":  `0.2`,

	"source.type":           `file`,
	"source.id":             `rules`,
	"source.path":           `"${AGENT_HOME}/rules.md"`,
	"source.generator":      `[git, log, --oneline, -n, "10"]`,
	"source.output_path":    `"${CWD}/.cache/map.md"`,
	"source.stages":         `[{generator: [grep, -rn, TODO, .]}, {generator: [sort]}]`,
	"source.refresh":        `compaction`,
	"source.cache":          `{strategy: ttl, ttl: 10m}`,
	"source.top":            `5`,
	"source.max_iterations": `20`,
	"source.step":           `5`,
	"source.strategy":       `truncate_head`,
	"source.phase":          `dynamic`,
	"source.priority":       `10`,
	"source.max_tokens":     `"6%"`,
	"source.on_missing":     `skip`,
	"source.condition":      `{when: task_contains, pattern: deploy}`,
	"source.fallback":       `[{type: file, path: "${CWD}/AGENTS.md"}]`,

	"generator.command":    `[ls, -R, src]`,
	"generator.timeout_ms": `5000`,

	"stage.generator": `{command: [sort], timeout_ms: 1000}`,
	"stage.output":    `"${CWD}/.cache/sorted.txt"`,

	"cache.strategy":      `file_hash`,
	"cache.invalidate_on": `["src/**/*.go", go.mod]`,
	"cache.ttl":           `10m`,

	"condition.when":    `task_contains`,
	"condition.pattern": `"API|endpoint"`,
	"condition.path":    `"${CWD}/Dockerfile"`,
	"condition.state":   `[active, idle]`,
	"condition.n":       `50`,
	"condition.tokens":  `16000`,
	"condition.all":     `[{when: turn_at_least, n: 5}, {when: budget_at_least, tokens: 16000}]`,
	"condition.any":     `[{when: task_contains, pattern: deploy}, {when: turn_at_least, n: 5}]`,
	"condition.not":     `{when: file_exists, path: "${CWD}/go.mod"}`,

	"message.role":    `user`,
	"message.content": `"Answer in one line."`,

	"strategy.system_prompt": `You translate manuals.`,
	"strategy.sections":      `[{name: Task, from: plan.task, required: true}]`,
	"strategy.leaves_out":    `[recall, todo]`,

	"section.name":       `Task`,
	"section.from":       `plan.task`,
	"section.path":       `"${AGENT_HOME}/glossary.md"`,
	"section.text":       `Keep product names.`,
	"section.max_tokens": `500`,
	"section.required":   `true`,
}
