// The memory of ctxfs in opencode. `ctxfs install opencode` wrote this file; with --remove it goes.
// It tells the model at the start of a session what ctxfs knows of the project, and has each turn recorded. Whatever fails
// here fails in silence: opencode works as without it.
import { spawn } from "node:child_process"
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"

const COMMAND = [] // ctxfs hook, as it was installed
const PATIENCE = 3000 // ms that a request waits for the memory at most

const state = process.env.XDG_STATE_HOME?.startsWith("/") ? process.env.XDG_STATE_HOME : join(homedir(), ".local", "state")
const transcripts = join(state, "ctxfs", "opencode")

// start runs the command on an input; what it prints comes back if it is waited for.
function start(input, wait) {
  return new Promise((done) => {
    let said = ""
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", wait ? "pipe" : "ignore", "ignore"], detached: !wait })
    child.on("error", () => done(""))
    child.stdin.on("error", () => {})
    if (wait) {
      const late = setTimeout(() => child.kill(), PATIENCE)
      child.stdout.on("data", (data) => (said += data))
      child.on("close", () => (clearTimeout(late), done(said)))
      child.stdin.end(JSON.stringify(input))
    } else {
      child.unref()
      child.stdin.end(JSON.stringify(input), () => done(""))
    }
  })
}

const ctxfs = async ({ client, directory }) => {
  const told = new Map() // session → a promise of what it is told
  const again = new Set() // sessions that were compacted since
  const turns = new Map() // session → the last work on its transcript
  const ended = new Map() // session → what is told when opencode ends

  // info returns what opencode knows of a session that a person talks to; a sub-agent's belongs to the one that started it.
  const info = async (id) => {
    const answer = await client.session.get({ path: { id } })
    return answer.data && !answer.data.parentID ? answer.data : undefined
  }

  const memory = async (id) => {
    const session = await info(id)
    if (!session) return ""
    const source = again.delete(id) ? "compact" : "startup"
    const input = { hook_event_name: "SessionStart", session_id: id, cwd: session.directory ?? directory, source }
    const said = await start(input, true)
    return said ? (JSON.parse(said).hookSpecificOutput?.additionalContext ?? "") : ""
  }

  // record writes the transcript of a session as `opencode export` prints it, and starts its import.
  const record = async (id) => {
    const session = await info(id)
    if (!session) return
    const messages = (await client.session.messages({ path: { id } })).data
    if (!messages?.length) return
    const file = join(transcripts, id + ".json")
    await mkdir(transcripts, { recursive: true, mode: 0o700 })
    await chmod(transcripts, 0o700)
    await writeFile(file + ".new", JSON.stringify({ info: session, messages }), { mode: 0o600 })
    await rename(file + ".new", file)
    const input = { hook_event_name: "Stop", session_id: id, cwd: session.directory ?? directory, transcript_path: file }
    await start(input, false)
    ended.set(id, { ...input, hook_event_name: "SessionEnd" })
  }

  // queue has one turn of a session recorded after the other.
  const queue = (id) => {
    const work = (turns.get(id) ?? Promise.resolve()).then(() => record(id)).catch(() => {})
    turns.set(id, work)
    return work
  }

  return {
    event: async ({ event }) => {
      const id = event.properties?.sessionID
      switch (event.type) {
        case "session.idle":
          return queue(id)
        case "session.compacted":
          again.add(id)
          told.delete(id)
          return queue(id)
        case "session.deleted":
          await rm(join(transcripts, event.properties.info.id + ".json"), { force: true }).catch(() => {})
      }
    },
    // What it adds is the same in all requests of a session until a compaction, so a provider's cache holds.
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (!sessionID || output.system[0]?.startsWith("You are a title generator")) return
      if (!told.has(sessionID)) told.set(sessionID, memory(sessionID).catch(() => ""))
      const text = await told.get(sessionID)
      if (text) output.system.push(text)
    },
    dispose: async () => {
      await Promise.all(turns.values())
      await Promise.all([...ended.values()].map((input) => start(input, false)))
    },
  }
}

export default { id: "ctxfs", server: ctxfs }
