"""Identity of an agent: whatever changes its play changes the digest or is named as unseen, and nothing else does."""

import importlib
import json
import random
import sys
from dataclasses import dataclass
from enum import Enum
from functools import partial

import numpy as np
import pytest

from stratagem.games import make_game
from stratagem.measure.audit.identity import identify
from stratagem.players.base import Scripted
from stratagem.players.catalogue import make_player
from stratagem.players.language import LanguagePlayer

BASE = """
import math
import random
import re
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
import numpy as np

LIMIT = 3
TABLE = {"K": ["BET", {"a", "b"}], "Q": (1.5, None)}
WEIGHTS = np.arange(3.0)
PATTERN = re.compile("x+")

class Mood(Enum):
    CALM = 1

@dataclass
class Model:
    size: int = 2
    moods: list = field(default_factory=list)

    @property
    def double(self):
        return self.size * 2

    def answer(self, question, /):
        return helped(question) if random.random() < WEIGHTS[1] else PATTERN.sub("", Mood.CALM.name)

def helped(question, most=LIMIT):
    def inner(card):
        return TABLE[card][0] if math.sqrt(most) > 1 else best(card)
    best = lambda card: card * 2
    return inner(question)

model = Model()
unread = 1

def act(question):
    # a comment
    from helper import further
    return further(model.answer(question), np.random.default_rng)
"""
HELPER = """
FACTOR = 2
def further(value, rng):
    return value * FACTOR
def other():
    return 1
"""


@pytest.fixture
def identity_of(tmp_path, monkeypatch):
    """Function that returns the identity of an agent in a file, a part of which is replaced."""
    monkeypatch.syspath_prepend(tmp_path)

    def identity(old="", new="", *, source=BASE, helper=HELPER, name="act"):
        assert old in source + helper
        for module, text in {"agent": source, "helper": helper}.items():
            (tmp_path / f"{module}.py").write_text(text.replace(old, new) if old else text, "utf-8")
            sys.modules.pop(module, None)
        importlib.invalidate_caches()
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            return identify(getattr(importlib.import_module("agent"), name))
        finally:
            sys.dont_write_bytecode = before
            for module in ("agent", "helper"):
                sys.modules.pop(module, None)

    return identity


CHANGES = [
    ("LIMIT = 3", "LIMIT = 4"),
    ('{"a", "b"}', '{"a", "c"}'),
    ("(1.5, None)", "(1.5, 0)"),
    ("np.arange(3.0)", "np.arange(4.0)"),
    ('re.compile("x+")', 're.compile("x*")'),
    ("CALM = 1", "CALM = 2"),
    ("self.size * 2", "self.size * 3"),
    ("model = Model()", "model = Model(3)"),
    ("card * 2", "card + 2"),
    ("math.sqrt(most) > 1", "math.sqrt(most) > 2"),
    ("FACTOR = 2", "FACTOR = 3"),
    ("value * FACTOR", "FACTOR * value"),
    ("from helper import further", "from helper import other as further"),
    ("import math\n", "import cmath as math\n"),
]


def test_digest_differs_where_the_agent_does(identity_of):
    before = identity_of()
    assert before.unseen == ()
    digests = [identity_of(old, new).digest for old, new in CHANGES]
    assert len({before.digest, *digests}) == 1 + len(CHANGES), "each change has a digest of its own"


HIDDEN = {
    "attribute of a function": "def act(q):\n    return act.move\nact.move = 'BET'",
    "function that wraps": """
from functools import wraps
def hurried(function):
    @wraps(function)
    def inner(q):
        return 'BET' if q else function(q)
    return inner
@hurried
def act(q):
    return 1
""",
    "function behind a cache": """
from functools import cache
@cache
def best(card):
    return 'BET'
def act(q):
    return best(q)
""",
    "function by the type of its argument": """
from functools import singledispatch
@singledispatch
def best(card):
    return 1
@best.register
def _(card: int):
    return 'BET'
def act(q):
    return best(q)
""",
    "function in an object of Python": """
from types import SimpleNamespace
def best(card):
    return 'BET'
BOTS = SimpleNamespace(best=best)
def act(q):
    return BOTS.best(q)
""",
    "default of a dictionary": """
from collections import defaultdict
MOVES = defaultdict(lambda: 'BET')
def act(q):
    return MOVES[q]
""",
    "attribute that is no field": """
from dataclasses import dataclass
@dataclass
class Agent:
    size: int = 1
    def __call__(self, q):
        return self.move
act = Agent()
act.move = 'BET'
""",
    "method of a dictionary": "class Agent(dict):\n    def __call__(self, q):\n        return 'BET'\nact = Agent()",
    "method of a named tuple": """
from typing import NamedTuple
class Agent(NamedTuple):
    size: int = 1
    def __call__(self, q):
        return 'BET'
act = Agent()
""",
    "method of a text": """
class Card(str):
    def best(self):
        return 'BET'
KING = Card('K')
def act(q):
    return KING.best()
""",
    "method of a class of classes": """
class Kind(type):
    def best(cls):
        return 'BET'
class Card(metaclass=Kind):
    pass
def act(q):
    return Card.best()
""",
}


@pytest.mark.parametrize("source", HIDDEN.values(), ids=HIDDEN)
def test_code_that_a_name_hides_counts(identity_of, source):
    before, after = identity_of(source=source), identity_of("'BET'", "'PASS'", source=source)
    assert before.digest != after.digest
    assert before.unseen == ()
    assert identity_of(source=source) == before


def test_two_functions_on_one_line_differ(identity_of):
    source = "one, other = (lambda q: 'BET'), (lambda q: 'PASS')"
    assert identity_of(source=source, name="one") != identity_of(source=source, name="other")


def test_plain_named_tuple_needs_no_source(identity_of):
    source = "from collections import namedtuple\nP = namedtuple('P', 'x')({})\ndef act(q):\n    return P.x"
    one, other = (identity_of(source=source.format(value)) for value in (1, 2))
    assert one != other
    assert one.unseen == other.unseen == ()


@pytest.mark.parametrize(
    ("old", "new"), [("# a comment", "# another"), ("unread = 1", "unread = 2"), ("return 1\n", "return 2\n"), ("", "")]
)
def test_digest_is_the_same_where_the_agent_is(identity_of, old, new):
    assert identity_of(old, new) == identity_of()


def test_mark_of_a_test_is_no_part_of_the_agent(identity_of):
    source = "import pytest\n@pytest.mark.parametrize('below', [{}])\n@staticmethod\ndef act(question):\n    return 1\n"
    one, other = (identity_of(source=source.format(below)) for below in (1, 2))
    assert one == other
    assert one.unseen == ()


@pytest.mark.parametrize(
    ("source", "unseen"),
    [
        ("def act(q):\n    return open('x').read()", "`open` in act"),
        ("import os\ndef act(q):\n    return os.environ['X']", "the module `os`"),
        (
            "from stratagem.players.catalogue import make_player\ndef act(q):\n    return make_player('api:m@http://x')",
            "the module `stratagem.players.catalogue`",
        ),
        ("from numpy import loadtxt\ndef act(q):\n    return loadtxt('x')", "a file that numpy loads"),
        ("def act(q):\n    import subprocess\n    return 1", "the module `subprocess`"),
        ("import numpy as np\ndef act(q):\n    return np.load('x')", "a file that numpy loads"),
        ("from pathlib import Path\nP = Path('x')\ndef act(q):\n    return P.read_text()", "`P` (pathlib.PosixPath)"),
        ("import threading\nL = threading.Lock()\ndef act(q):\n    return L", "`L` (_thread.lock)"),
        ("import stratagem as sg\ndef act(q):\n    return sg.player('run:x')", "the module `stratagem`"),
        ("import rich.console\nC = rich.console.Console()\ndef act(q):\n    return C", "`C` (rich.console.Console)"),
        ("import rich.markup\ndef act(q):\n    return rich.markup.escape(q)", "the module `rich`"),
        ("exec('def act(q): return 1')", "the source of act"),
        ("def act(q):\n    return getattr(q, 'x')", "`getattr` in act"),
        ("def act(q):\n    return undefined", "`undefined` in act"),
        ("def act(q):\n    import no_such_module\n    return 1", "the module `no_such_module`"),
    ],
)
def test_what_may_change_unseen_is_named(identity_of, source, unseen):
    assert unseen in identity_of(source=source).unseen


def test_file_under_the_name_of_a_module_of_python_counts(identity_of, tmp_path, monkeypatch):
    source = "from fractions import act"
    digests = set()
    for number in (1, 2):
        (tmp_path / "fractions.py").write_text(f"def act(question):\n    return {number}\n")
        monkeypatch.delitem(sys.modules, "fractions", raising=False)
        found = identity_of(source=source)
        assert found.unseen == ()
        digests.add(found.digest)
    assert len(digests) == 2


def test_cycles_and_long_lists_end(identity_of):
    cycle = "A = []\nA.append(A)\ndef act(q):\n    return other(q), A\ndef other(q):\n    return act(q)"
    assert identity_of(source=cycle).unseen == ()
    many = "A = [[n] for n in range(3000)]\ndef act(q):\n    return A"
    assert identity_of(source=many).unseen == ("more than 2,000 objects",)


class Colour(Enum):
    RED = 1


@dataclass(frozen=True)
class Bold(Scripted):
    share: float = 0.5

    def strategy(self, view):
        return {"BET": self.share, "PASS": 1 - self.share} if Colour.RED else {}


class Called:
    __slots__ = ("index",)

    def __init__(self, index):
        self.index = index

    def __call__(self, question):
        return question["choices"]["actions"][self.index]

    def method(self, question):
        return self(question)


@pytest.mark.parametrize(
    "make",
    [
        Bold,
        Called,
        lambda number: Called(number).method,
        lambda number: partial(int, base=number),
        lambda number: lambda question: number,
        lambda number: [random.choice, number],
        lambda number: make_player(f"mcts:{number + 1}", make_game("kuhn")),
        lambda number: make_player(f"noise(TightValue, {number / 10})", make_game("kuhn")),
        lambda number: make_game(f"kuhn(hands={number + 1})"),
        lambda number: np.full(3, number),
    ],
)
def test_identity_has_the_values_of_an_object(make):
    one, same, other = map(identify, map(make, (1, 1, 2)))
    assert one == same
    assert one.digest != other.digest
    assert one.unseen == ()


@pytest.mark.parametrize(
    ("text", "unseen"),
    [
        ("TightValue", ()),
        ("api:gpt@https://api.example.com/v1", ()),
        ("api:gpt@http://localhost:8000/v1", ("what answers at http://localhost:8000/v1",)),
        ("lm(api:gpt@http://127.0.0.1:8000/v1, mode=free)", ("what answers at http://127.0.0.1:8000/v1",)),
        ("http:https://example.com/act", ("what answers at http:https://example.com/act",)),
        ("noise(agent(http:https://example.com/act), 0.1)", ("what answers at http:https://example.com/act",)),
    ],
)
def test_what_answers_at_an_address_of_an_agent_is_unseen(text, unseen):
    assert identify(make_player(text, make_game("kuhn"))).unseen == unseen


def test_options_of_a_model_count():
    game = make_game("kuhn")
    texts = ("api:gpt@https://api.example.com/v1", "lm(api:gpt@https://api.example.com/v1, temperature=0.5)")
    assert len({identify(make_player(text, game)).digest for text in texts}) == 2


def test_files_of_a_model_count(tmp_path):
    (tmp_path / "table.gguf").write_text("1")
    player = LanguagePlayer(f"gguf:{tmp_path}/table.gguf")
    before = identify(player)
    (tmp_path / "table.gguf").write_text("2")
    assert identify(player).digest != before.digest
    assert before.unseen == ()


def test_table_of_a_player_counts(tmp_path):
    table = {"schema_version": 1, "missing": "uniform", "policy": {"K:": {"PASS": 0.0, "BET": 1.0}}}
    digests = set()
    for share in (0.0, 0.5):
        table["policy"]["K:"] = {"PASS": share, "BET": 1.0 - share}
        (tmp_path / "table.json").write_text(json.dumps(table))
        digests.add(identify(make_player(f"table:{tmp_path}/table.json", make_game("kuhn"))).digest)
    assert len(digests) == 2
