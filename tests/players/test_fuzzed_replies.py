"""Thousands of replies that nobody would want: none raises, no illegal one is taken, and every table goes on."""

import random
from itertools import islice

import pytest
from ventriloquist import END, Ventriloquist, first_view, player_of

from stratagem.games.catalogue import make_game
from stratagem.games.choices import Sheet, Slot
from stratagem.games.key import Key
from stratagem.language.decoding.stopping import after_thinking
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

NUMBER = 1200
"""Replies that a mode reads; a third of them where the next token is constrained."""
TAGS = ("<think>", "</think>", "<thi", "nk>", "</thi", "<think", "<THINK>", "Action:", "Action: ", "<", "<|end|>")
BREAKS = ("\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\n\n\n")
CONTROLS = ("\x00", "\x07", "\x08", "\x1b[31m", "\x7f", "\ufeff", "\ufffd", "\ufdd0", "\U0010ffff")
HIDDEN = ("\u200b", "\u200d", "\u202e", "\u2066", "\u00ad", "\u0301", "\u061c")
LETTERS = (
    "ß",
    "İ",
    "ﬁ",
    "\u0131",
    "日本",
    "🂡",
    "שלום",
    "٣",
    "²",
    "e\u0301",
    "\U0001d40f\U0001d400\U0001d412\U0001d412",
    "\uff30\uff21\uff33\uff33",
)
HALVES = ("\ud800", "\udfff", "\udc80\ud83d")
WRAPS = ("**", "`", "'", '"', "[", "]", "(", ")", "{", "-", "\u2212", ".", ",", ":", ";", "!", "?", "#", "_", "|", "\\")
WORDS = (
    "PASS",
    "BET",
    "pass",
    "C",
    "D",
    "0",
    "1",
    "10",
    "11",
    "-1",
    "1.5",
    "[1, 0, 2]",
    "pile 1 take 1",
    "I will",
    " ",
    "",
)
PIECES = (TAGS, BREAKS, CONTROLS, HIDDEN, LETTERS, HALVES, WRAPS, WORDS, WORDS)
SHEET = Sheet([Slot("a", ("A H", "A - B", "WAIVE")), Slot("b", ("B H", "B - A", "WAIVE")), Slot("c", ("C H",))], fill=2)
REPLIES = 10_000


def garbage(seed):
    """A reply made of pieces, some of them torn, some repeated."""
    dice = random.Random(seed)
    parts = [dice.choice(dice.choice(PIECES)) for _ in range(dice.choice([0, 1, 2, 3, 6, 12]))]
    parts = [part[: dice.randint(0, len(part))] if dice.random() < 0.1 else part for part in parts]
    parts = [part * dice.choice([2, 40]) if dice.random() < 0.05 else part for part in parts]
    if dice.random() < 0.05:
        parts.append(bytes(dice.randrange(256) for _ in range(dice.randrange(60))).decode("latin-1"))
    return "".join(parts)


def as_tokens(seed):
    """The same in bytes, which need not be whole characters, and with end tokens where none are due."""
    dice, tokens = random.Random(seed), list(garbage(seed).encode("utf-8", "surrogatepass"))
    for _ in range(dice.choice([0, 0, 0, 1, 3])):
        tokens.insert(dice.randint(0, len(tokens)), dice.choice([END, 0xFF, 0xC3, 0xE2]))
    return tokens


def tables(player, game, replies):
    """Episodes that this many replies are enough for."""
    made = make_game(game)
    return play(rotate_seats(Match(made, [player] * made.spec.seats), replies, Key(5), name="fuzz"), live=8)


def choices_of_all_kinds():
    return [
        *(first_view(name).choices for name in ("kuhn", "ipd-shapellm", "negotiation-v1", "negotiation-v2", "nim")),
        SHEET,
    ]


def test_every_reply_is_parsed():
    kinds, problems = choices_of_all_kinds(), set()
    for seed in range(REPLIES):
        text = garbage(seed)
        for choices in kinds:
            action, problem = choices.parse(after_thinking(text, thinking=seed % 3 == 0))
            assert (action in choices) if problem == "" else action is None
            problems.add(problem)
    assert problems == {"", "silent", "illegal", "ambiguous"}


@pytest.mark.parametrize(
    "text", ["x" * 2**20, "PASS\n" * 2**18, "\n" * 2**20, "<think>" * 150_000, "🂡" * 2**18, "1" * 2**20]
)
def test_a_megabyte_is_parsed(text):
    for choices in choices_of_all_kinds():
        action, problem = choices.parse(after_thinking(text))
        assert (action in choices) if problem == "" else action is None
    engine = Ventriloquist([text], masks=False)
    (episode,) = islice(tables(player_of(engine, "free"), "kuhn(hands=1)", 1), 1)
    assert episode.finished


MODES = {
    "free": ("plain", "kuhn(hands=1)", {}),
    "free mid-text": ("plain", "negotiation-v1", {"mid_text": True}),
    "free thinking": ("plain", "kuhn(hands=1)", {"opening": "<think>\n"}),
    "recover": ("plain", "kuhn(hands=1)", {}),
    "constrained": ("reasoned", "kuhn(hands=1)", {}),
    "constrained by brackets": ("gtbench-reasoned", "negotiation-v2", {}),
    "direct": ("plain", "negotiation-v1", {}),
    "single": ("shapellm-state", "ipd-shapellm(rounds=5)", {}),
    "free behind a server": ("plain", "tic-tac-toe", {"masks": False}),
}


@pytest.mark.parametrize("name", MODES)
def test_tables_go_on(name):
    (style, game, options), mode = MODES[name], name.partition(" ")[0]
    remote = options.get("masks") is False
    number = NUMBER // 3 if mode == "constrained" else NUMBER
    lines = [(garbage if remote else as_tokens)(seed) for seed in range(number)]
    engine_options = {key: value for key, value in options.items() if key != "mid_text"}
    engine = Ventriloquist(lines, **engine_options)
    player = player_of(engine, mode, style, max_new_tokens=60, mid_text=options.get("mid_text", False))
    heard = set()
    for episode in tables(player, game, number):
        assert episode.finished
        for row in episode.decisions:
            assert row.how != "error"
            assert (row.action is None) == (row.how == "illegal")
            heard.add(row.how)
            assert (row.said is None) == (row.action is not None)
        if len(engine.requests) >= number:
            break
    assert len(engine.requests) >= number
    assert all(len(call.tokens) <= 60 or mode == "constrained" for call in engine.calls)
    whole = {"free": {"free", "illegal"}, "recover": {"free", "recovered"}, "single": {"free", "illegal"}}
    assert heard == whole.get(mode, {"constrained"})
