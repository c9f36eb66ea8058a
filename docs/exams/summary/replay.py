#!/usr/bin/env python3
"""Replay a history into a mounted session and stop at each request for a summary.

    replay.py --state DIR --session DIR --messages FILE [--budget TOKENS] [--ctxfs BIN]
    replay.py --state DIR --answer FILE [--late RECORDS]
    replay.py --state DIR

The first form begins: it makes the session, sets its budget and a recipe with
summary_request: on, and appends the messages one by one. After each message of the
assistant it reads context/pack.md, as an agent does before its next call. When the
prompt shows a new request, the program writes context/summary.request/prompt.md to
a file, prints its path, and exits with code 3. If prompt.md contains no records, the
file begins with the prompt that precedes the request.

The second form delivers an answer to context/summary.md, with --late only after so
many further records, and continues. The third form continues without an answer.

At the end the program prints the path of a copy of the last context/pack.md. DIR of
--state has the state, all requests, and answers.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys

HEADING = "# Context Block: summary request\n"


class Replay:
    def __init__(self, folder):
        self.folder = folder
        self.file = os.path.join(folder, "state.json")
        with open(self.file, encoding="utf-8") as f:
            self.state = json.load(f)

    def save(self):
        with open(self.file + ".new", "w", encoding="utf-8") as f:
            json.dump(self.state, f, indent=1)
        os.replace(self.file + ".new", self.file)

    def path(self, name):
        return os.path.join(self.state["session"], name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def keep(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def deliver(self):
        """Writes the answers whose time has come."""
        while self.state["answers"] and self.state["next"] >= self.state["answers"][0]["at"]:
            answer = self.state["answers"].pop(0)
            with open(self.path("context/summary.md"), "w", encoding="utf-8") as f:
                f.write("---\nupto: %d\n---\n%s" % (answer["upto"], answer["text"]))
            self.state["delivered"].append({"n": answer["n"], "upto": answer["upto"], "after": self.state["next"]})
            self.save()

    def asked(self):
        """Reads the prompt. Returns the path of a new request, or None."""
        pack = self.read("context/pack.md")
        if HEADING not in pack:
            return None
        request = json.loads(self.read("context/summary.request/request.json"))
        if request["state"] != "open" or request["n"] in self.state["asked"]:
            return None
        self.state["asked"].append(request["n"])
        self.state["request"] = request
        self.save()
        prompt = self.read("context/summary.request/prompt.md")
        if "\n# Context Block: messages:" not in prompt:  # the request body contains the records
            prompt = pack[: pack.index(HEADING)] + "\n" + prompt
        name = "%03d" % request["n"]
        self.keep("request-%s.json" % name, json.dumps(request, indent=1))
        return self.keep("request-%s.md" % name, prompt)

    def run(self):
        with open(self.state["messages"], encoding="utf-8") as f:
            records = [line for line in f if "role" in json.loads(line)]
        for i in range(self.state["next"], len(records)):
            self.deliver()
            with open(self.path("messages.jsonl"), "a", encoding="utf-8") as f:
                f.write(records[i])
            self.state["next"] = i + 1
            self.save()
            if json.loads(records[i])["role"] == "assistant":
                found = self.asked()
                if found:
                    print(found)
                    return 3
        self.deliver()
        print(self.keep("final.md", self.read("context/pack.md")))
        return 0


def begin(args):
    os.makedirs(args.state, exist_ok=True)
    session = os.path.abspath(args.session)
    os.makedirs(session, exist_ok=True)
    with open(os.path.join(session, "context/budget"), "w", encoding="utf-8") as f:
        f.write("%d\n" % args.budget)
    recipe = subprocess.run([args.ctxfs, "recipe", "default"], check=True, capture_output=True, text=True).stdout
    with open(os.path.join(session, "context/context.yaml"), "w", encoding="utf-8") as f:
        f.write("summary_request: on\n" + recipe)
    state = {"session": session, "messages": os.path.abspath(args.messages), "next": 0, "asked": [], "request": None,
             "answers": [], "delivered": []}
    with open(os.path.join(args.state, "state.json"), "w", encoding="utf-8") as f:
        json.dump(state, f)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--state", required=True, help="folder of the replay")
    p.add_argument("--session", help="directory of the session in the mount")
    p.add_argument("--messages", help="messages.jsonl of the history")
    p.add_argument("--budget", type=int, default=8000)
    p.add_argument("--ctxfs", default=shutil.which("ctxfs") or "ctxfs", help="the program, for its built-in recipe")
    p.add_argument("--answer", help="the summary that answers the last request")
    p.add_argument("--late", type=int, default=0, help="deliver the answer after so many further records")
    args = p.parse_args()
    if args.session:
        if not args.messages or args.answer or os.path.exists(os.path.join(args.state, "state.json")):
            p.error("to begin, name --messages and a new --state folder")
        begin(args)

    replay = Replay(args.state)
    if args.answer:
        request = replay.state["request"]
        if request is None:
            p.error("no request waits for an answer")
        with open(args.answer, encoding="utf-8") as f:
            text = f.read()
        replay.keep("answer-%03d.md" % request["n"], text)
        replay.state["answers"].append({"n": request["n"], "upto": request["upto"], "text": text,
                                        "at": replay.state["next"] + args.late})
    replay.state["request"] = None
    replay.save()
    return replay.run()


if __name__ == "__main__":
    sys.exit(main())
