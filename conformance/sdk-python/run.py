"""Drives a hew executable through the official Python Agent SDK (package claude_agent_sdk, Python 3.10 or newer).

    python3 run.py --bin PATH      last line: "N passed, N failed"
    python3 run.py --at-hand       exit code 0 when the package can be imported

The model is a script that hew itself plays, so nothing is reached over a network.
"""

import argparse
import asyncio
import importlib.util
import json
import os
import sys
import tempfile

HERE = os.path.abspath(os.path.dirname(__file__))


def at_hand():
    return sys.version_info >= (3, 10) and importlib.util.find_spec("claude_agent_sdk") is not None


class Box:
    """A home, a working folder and a script, all of which go with the check."""

    def __init__(self, bin, steps):
        self.bin, self.tmp = bin, tempfile.TemporaryDirectory(prefix="hew-python-")
        self.home, self.dir = (os.path.join(self.tmp.name, n) for n in ("home", "work"))
        os.mkdir(self.home), os.mkdir(self.dir)
        self.script = os.path.join(self.tmp.name, "script.json")
        with open(self.script, "w", encoding="utf-8") as f:
            json.dump({"steps": steps}, f)

    def options(self, **more):
        from claude_agent_sdk import ClaudeAgentOptions

        env = {"HOME": self.home, "CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK": "1"}
        return ClaudeAgentOptions(cli_path=self.bin, cwd=self.dir, model="script:" + self.script, env=env, **more)


async def plain_query(bin):
    from claude_agent_sdk import AssistantMessage, ResultMessage, TextBlock, query

    box, said, result = Box(bin, [{"match": {"user": "say hello"}, "reply": [{"text": "hello from hew"}]}]), [], None
    async for m in query(prompt="say hello", options=box.options()):
        if isinstance(m, AssistantMessage):
            said += [b.text for b in m.content if isinstance(b, TextBlock)]
        if isinstance(m, ResultMessage):
            result = m
    assert said == ["hello from hew"], said
    assert result is not None and not result.is_error and result.session_id, result


async def permission_callback(bin):
    from claude_agent_sdk import ClaudeSDKClient, PermissionResultAllow, PermissionResultDeny, ResultMessage

    box = Box(bin, [
        {"reply": [{"tool": "Bash", "input": {"command": "touch yes"}}]},
        {"reply": [{"tool": "Bash", "input": {"command": "touch no"}}]},
        {"match": {"result_error": True}, "reply": [{"text": "done"}]},
    ])

    async def decide(tool, given, context):
        if given["command"] == "touch yes":
            return PermissionResultAllow()
        return PermissionResultDeny(message="not that")

    async with ClaudeSDKClient(options=box.options(can_use_tool=decide)) as client:
        await client.query("touch two files")
        async for m in client.receive_response():
            if isinstance(m, ResultMessage):
                assert m.result == "done", m
    assert os.listdir(box.dir) == ["yes"], os.listdir(box.dir)


async def conversation(bin):
    from claude_agent_sdk import ClaudeSDKClient, ResultMessage

    box, results = Box(bin, [
        {"match": {"user": "my name is Ada"}, "reply": [{"text": "hello"}]},
        {"match": {"user": "who am I", "seen": ["my name is Ada"]}, "reply": [{"text": "Ada"}]},
    ]), []
    async with ClaudeSDKClient(options=box.options()) as client:
        for prompt in ("my name is Ada", "who am I"):
            await client.query(prompt)
            async for m in client.receive_response():
                if isinstance(m, ResultMessage):
                    results.append(m.result)
    assert results == ["hello", "Ada"], results


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--bin")
    args.add_argument("--at-hand", action="store_true")
    given = args.parse_args()
    if given.at_hand:
        sys.exit(0 if at_hand() else 1)
    passed = failed = 0
    for check in (plain_query, permission_callback, conversation):
        try:
            asyncio.run(asyncio.wait_for(check(os.path.abspath(given.bin)), 60))
            passed += 1
            print("ok  ", check.__name__)
        except Exception as e:  # each check is on its own
            failed += 1
            print("FAIL", check.__name__, repr(e))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
