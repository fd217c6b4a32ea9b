"""An agent outside for the tests: `python agents_in_python.py KIND` answers in the way that KIND says."""

import json
import os
import sys
import time


def answer(kind, ask, number):
    """Lines that answer a question, any number of them."""
    action = ask["choices"]["actions"][0]
    own = {"id": ask["id"], "action": action}
    if kind == "concurrent":
        return []
    if kind == "hangs" and number == 2:
        time.sleep(60)
    if kind == "crashes" and number == 2:
        sys.stderr.write("Segmentation fault (not really)\n")
        sys.stderr.flush()
        os._exit(3)
    if kind == "bursts" and number == 2:
        return ["x" * (2 << 20)]
    if kind == "leaves":
        sys.exit(0)
    return {
        "plain": [own],
        "hangs": [own],
        "crashes": [own],
        "bursts": [own],
        "text": [{"action": f"I weigh my card.\nMy move: {action}"}],
        "illegal": [own | {"action": "FOLD"}],
        "garbage": ["Thinking ...", own],
        "stranger": [own | {"id": 999}],
        "odd": [own | {"id": [1]}],
        "twice": [own, own | {"action": "BET"}],
        "silent": [{"id": ask["id"]}],
        "error": [{"id": ask["id"], "error": "the model is busy"}],
        "endless": [own, *["x"] * 3000],
        "long": ["x" * (2 << 20)],
        "secret": [own | {"action": f"The key is {os.environ.get('AGENT_KEY')}."}],
        "count": [own | {"usage": {"prompt_tokens": 11, "completion_tokens": 2}}],
    }[kind]


def main(kind):
    number, held = 0, []
    for line in sys.stdin:
        ask = json.loads(line)
        if ask["type"] == "hello":
            lines = {
                "rude": ["Welcome!"],
                "many": [{"type": "hello", "protocol": 1, "concurrent": "8"}],
                "future": [{"type": "hello", "protocol": 2}],
                "concurrent": [{"type": "hello", "protocol": 1, "concurrent": 4}],
            }.get(kind, [{"type": "hello", "protocol": 1}])
        else:
            number += 1
            lines = answer(kind, ask, number)
            if kind == "concurrent":  # four at a time, answered backwards
                held.append({"id": ask["id"], "action": ask["choices"]["actions"][0]})
                if len(held) == 4:
                    lines, held = held[::-1], []
        for each in lines:
            sys.stdout.write((each if isinstance(each, str) else json.dumps(each)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
