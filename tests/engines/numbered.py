"""Requests of every kind, from a number: prompts that share beginnings, guides that force, restrict or leave free."""

import random

from stratagem.games.key import Key
from stratagem.language.engines.base import PLAIN, Prompt, Request, Sampling
from stratagem.language.engines.kept_set import KeptSet

SAMPLINGS = (
    PLAIN,
    Sampling(0.7),
    Sampling(1.4, top_k=50),
    Sampling(1.0, 30, 0.9),
    Sampling(0.0),
    Sampling(0.8, 40, 0.95),
)
SIZE = 1500
FREE = None


class Steps:
    """A guide that is a list of steps: FREE for any token, a set of tokens to choose from, a list that must come."""

    def __init__(self, steps):
        self.steps = [list(step) if isinstance(step, list) else step for step in steps]
        self.heard = []
        self.offered = []
        """Allowed set of each token."""

    @property
    def done(self):
        return not self.steps

    @property
    def allowed(self):
        return tuple(sorted(self.steps[0])) if self.steps and isinstance(self.steps[0], frozenset) else None

    @property
    def forced(self):
        return self.steps[0] if self.steps and isinstance(self.steps[0], list) else ()

    def advance(self, token):
        assert self.allowed is None or token in self.allowed
        self.heard.append(token)
        self.offered.append(self.allowed)
        if self.forced:
            assert token == self.steps[0].pop(0)
            if self.steps[0]:
                return
        self.steps.pop(0)


def random_steps(dice, most=7):
    """Steps of every kind."""
    kinds = {
        "free": lambda: FREE,
        "set": lambda: frozenset(dice.sample(range(SIZE), dice.choice([1, 2, 5, 30]))),
        "run": lambda: [dice.randrange(SIZE) for _ in range(dice.choice([1, 2, 9]))],
    }
    return [kinds[dice.choice([*kinds])]() for _ in range(dice.randint(1, most))]


def random_prompt(dice):
    """A stem that many prompts have, or a part of it, and something of its own."""
    stem = tuple(random.Random(dice.randrange(3)).choices(range(SIZE), k=50))
    return Prompt(
        (("user", "?"),), stem[: dice.choice([1, 20, 50])] + tuple(dice.choices(range(SIZE), k=dice.randrange(12)))
    )


def asked(engine, number, **changes):
    """The request of this number; the same number is the same request."""
    dice = random.Random(number)
    parts = {"prompt": random_prompt(dice), "guide": Steps(random_steps(dice)), "key": Key(number).at("asked")}
    parts |= {"sampling": dice.choice(SAMPLINGS), "extended": dice.random() < 0.2}
    return Request(engine=engine, **{**parts, **changes})


def said(call):
    """Return the part of a call that is the same in every run; the edge of a kept set follows rounding."""
    allowed = [KeptSet if isinstance(some, KeptSet) else some for some in call.allowed]
    return call.prompt, call.policy, call.tokens, call.text, call.spans, allowed, call.sampling, call.finish
