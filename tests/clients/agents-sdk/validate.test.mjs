// The suite that LangGraph has for checkpointers, with files of a mount: each has the home of an agent below CTXFS_HOME of its own.
import { validate } from "@langchain/langgraph-checkpoint-validation";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { CtxfsSaver } from "./checkpointer.mjs";

let n = 0;
validate({
  checkpointerName: "CtxfsSaver",
  createCheckpointer() {
    const agent = join(process.env.CTXFS_HOME, "agent", `validate-${++n}`);
    mkdirSync(agent, { recursive: true });
    return new CtxfsSaver(agent);
  },
});
