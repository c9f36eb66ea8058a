"""What the OpenAI Agents SDK asks of a session: protocol.py EXAMPLES DIR. The items are as its runner saves them."""
import asyncio, sys

sys.path.insert(0, sys.argv[1])
from session import CtxfsSession  # noqa: E402

TURN = [
    {"content": "Which port has staging?", "role": "user"},
    {"id": "rs_1", "summary": [], "type": "reasoning", "encrypted_content": "gAAA", "content": None},
    {"arguments": '{"host":"staging"}', "call_id": "call_1", "name": "port", "type": "function_call", "id": "fc_1", "status": "completed"},
    {"call_id": "call_1", "output": "8443", "type": "function_call_output"},
    {"id": "msg_1", "content": [{"annotations": [], "text": "It is 8443 – naïve?\u2028", "type": "output_text"}], "role": "assistant", "status": "completed", "type": "message"},
]

async def main(directory):
    session = CtxfsSession(directory)
    assert session.session_id == directory.rsplit("/", 1)[1] and session.session_settings is None
    assert await session.get_items() == []
    assert await session.pop_item() is None
    await session.add_items([])
    await session.add_items(TURN)
    session = CtxfsSession(directory)  # all of it is in the files
    assert await session.get_items() == TURN
    assert await session.get_items(limit=2) == TURN[-2:]
    assert await session.get_items(100) == TURN and await session.get_items(0) == []
    assert await session.pop_item() == TURN[-1]
    assert await session.pop_item() == TURN[-2]
    assert await session.get_items() == TURN[:-2]
    await session.clear_session()
    assert await session.get_items() == [] and await session.pop_item() is None
    await session.add_items([{"role": "user", "content": "Anew."}])
    assert await CtxfsSession(directory).get_items() == [{"role": "user", "content": "Anew."}]
    with open(directory + "/messages.jsonl", encoding="utf-8", newline="\n") as log:
        assert len(log.readlines()) == len(TURN) + 1, "history only grows"
    try:
        await session.add_items([{"type": "widget"}])
    except OSError:
        print("the session holds")

asyncio.run(main(sys.argv[2]))
