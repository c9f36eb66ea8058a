// Runs a graph of LangGraph.js whose checkpoints are files of a mount: langgraph.mjs AGENT, the home of an agent.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { Command, END, MessagesAnnotation, START, StateGraph, interrupt } from "@langchain/langgraph";
import { CtxfsSaver } from "./checkpointer.mjs";

const agent = process.argv[2];
const graph = () => new StateGraph(MessagesAnnotation)
  .addNode("model", ({ messages }) => {
    const last = messages.at(-1);
    if (last.type === "tool") return { messages: [new AIMessage({ id: `a${messages.length}`, content: `It is ${last.content}.` })] };
    return { messages: [new AIMessage({ id: `a${messages.length}`, content: "", tool_calls: [{ id: `c${messages.length}`, name: "port", args: { host: "staging" } }] })] };
  })
  .addNode("ask", ({ messages }) => {
    const call = messages.at(-1).tool_calls[0];
    if (interrupt(`May I look up ${call.args.host}?`) !== "yes") return { messages: [new ToolMessage({ id: `t${messages.length}`, tool_call_id: call.id, name: call.name, content: "refused" })] };
    return { messages: [new ToolMessage({ id: `t${messages.length}`, tool_call_id: call.id, name: call.name, content: "8443" })] };
  })
  .addEdge(START, "model").addConditionalEdges("model", ({ messages }) => (messages.at(-1).tool_calls?.length ? "ask" : END), ["ask", END]).addEdge("ask", "model")
  .compile({ checkpointer: new CtxfsSaver(agent) }); // a new one each time: all of it is in the files
const thread = { configurable: { thread_id: "ports/staging" } };

const first = await graph().invoke({ messages: [new HumanMessage({ id: "h1", content: "Which port has staging?" })] }, thread);
assert.equal(first.__interrupt__[0].value, "May I look up staging?");
const done = await graph().invoke(new Command({ resume: "yes" }), thread);
assert.equal(done.messages.at(-1).content, "It is 8443.");
await graph().invoke({ messages: [new HumanMessage({ id: "h2", content: "And again?" })] }, thread);
const again = await graph().invoke(new Command({ resume: "no" }), thread);
assert.deepEqual(again.messages.map((m) => m.type), ["human", "ai", "tool", "ai", "human", "ai", "tool", "ai"]);

const state = await graph().getState(thread);
assert.deepEqual(state.values.messages.map((m) => m.content), again.messages.map((m) => m.content));
let steps = 0;
for await (const { values } of graph().getStateHistory(thread)) steps += values.messages !== undefined;
assert.ok(steps >= 6, `${steps} steps`);
const other = await graph().invoke({ messages: [new HumanMessage({ id: "h3", content: "Another thread." })] }, { configurable: { thread_id: "two" } });
assert.equal(other.messages.length, 2);

const saver = new CtxfsSaver(agent);
await saver.deleteThread("two");
assert.equal(await saver.getTuple({ configurable: { thread_id: "two" } }), undefined);
assert.ok(await saver.getTuple(thread));
assert.ok(existsSync(`${agent}/session/two/messages.jsonl`), "the conversation stays");
console.log("the checkpoints hold");
