"""Agents by rule for tables of the Model Context Protocol: they see what a reply of a table holds, and nothing else."""

from random import Random


class Equilibrium:
    """Equilibrium of Kuhn poker, and the first action where the game is in other words."""

    def __init__(self, seed=0):
        self._draws = Random(seed)

    def __call__(self, seen):
        facts, actions = seen["facts"], seen["choices"]["actions"]
        if not facts or "card" not in facts:
            return actions[0]
        opens, card = facts["opens"], facts["card"]
        if "BET" in actions:
            share = {"J": 1 / 3, "Q": 0.0, "K": 1.0}[card]
            return "BET" if self._draws.random() < share else "PASS"
        share = {"J": 0.0, "Q": 1 / 3 + opens / 3, "K": 1.0}[card]
        return "CALL" if self._draws.random() < share else "FOLD"


def fold_all(seen):
    """Pass and fold, a flaw that anybody exploits by betting."""
    return next((action for action in ("FOLD", "PASS") if action in seen["choices"]["actions"]), "A")


def answer_all(call, agent, most=10_000, stop=lambda number: False):
    """Take questions and answer them until nothing is asked any more; return the replies of `call(tool, arguments)`."""
    replies = [call("open_table", {})]
    for number in range(most):
        seen = replies[-1]
        if seen["state"] == "over" or stop(number):
            break
        if seen["state"] == "waiting":
            replies.append(call("open_table", {}))
            continue
        arguments = {"table": seen["table"], "question": seen["question"], "action": agent(seen)}
        replies.append(call("act", arguments))
    return replies
