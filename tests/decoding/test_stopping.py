"""A reply stops as soon as its last line is an action that can no longer become another, and never while it thinks."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import BUILDS, MANY, ORDERS, SMALL, TANGLED

from stratagem.games.choices import Flat, Sheet
from stratagem.games.reading import plain, unwrap_line
from stratagem.language.decoding.stopping import StopRule, after_thinking

WORDS, LETTERS, DEMANDS, PREFIXES = SMALL["words"], SMALL["letters"], SMALL["demands"], SMALL["prefixes"]


def stop_at(choices, pieces, thinking=False, **settings):
    """Return the number of pieces taken, and the action; None for the number where the reply never stopped."""
    watch = StopRule(choices, **settings).watch(thinking)
    for number, piece in enumerate(pieces, 1):
        if watch.feed(piece):
            return number, watch.action
    return None, None


def stopped_text(choices, text, thinking=False, **settings):
    number, action = stop_at(choices, text, thinking, **settings)
    return (None if number is None else text[:number]), action


@pytest.mark.parametrize(
    ("choices", "text", "stopped"),
    [
        (WORDS, "I shall be kind.\nCOOPERATE\nand more", "I shall be kind.\nCOOPERATE"),
        (WORDS, "**cooperate** then", "**cooperate"),
        (WORDS, "I will COOPERATE.\n", None),
        (WORDS, "COOPERAT\nE", None),
        (WORDS, "\n \n DEFECT", "\n \n DEFECT"),
        (DEMANDS, "5", "5"),
        (DEMANDS, "1\n", "1\n"),
        (DEMANDS, "1.\n", "1."),
        (DEMANDS, "12", "12"),
        (DEMANDS, "**1**", "**1*"),
        (DEMANDS, "1 \n", "1 \n"),
        (DEMANDS, "1\r\n", "1\r"),
        (DEMANDS, "1", None),
        (DEMANDS, "-5\n", None),
        (PREFIXES, "A PAR - BUR\n", "A PAR - BUR\n"),
        (PREFIXES, "A PAR - BUR VIA", "A PAR - BUR VIA"),
        (PREFIXES, "a par - bur;", "a par - bur;"),
        (PREFIXES, "A PAR - BUR X\nA PAR H", "A PAR - BUR X\nA PAR H"),
        (SMALL["vectors"], "so:\n[1, 2]!", "so:\n[1, 2]"),
        (BUILDS, "A BRE B\nWAIVE\n", "A BRE B\nWAIVE"),
        (BUILDS, "A BRE B\nF BRE B\nWAIVE\n", "A BRE B\nF BRE B\nWAIVE"),
        (BUILDS, "WAIVE", None),
    ],
)
def test_letter_by_letter(choices, text, stopped):
    assert stopped_text(choices, text)[0] == stopped


def test_the_action_comes_with_the_stop():
    assert stopped_text(WORDS, "well\n'defect'")[1] == "DEFECT"
    assert stopped_text(BUILDS, "waive\nF BRE B")[1] == "F BRE B\nWAIVE"


@pytest.mark.parametrize(
    ("text", "thinking", "stopped"),
    [
        ("<think>C\nD\n</think>\nC", False, "<think>C\nD\n</think>\nC"),
        ("<think>C\n", False, None),
        ("C is\nor <think>\nC\n", True, None),
        ("C\n</think>D", True, "C\n</think>D"),
        ("D\n</think>\n", True, None),
        ("<think></think><think>\nC\n</think>C", False, "<think></think><think>\nC\n</think>C"),
        ("hm </think> D", False, "hm </think> D"),
        ("<thin>\nC", False, "<thin>\nC"),
        ("<think>" + "x" * 500 + "</think>C", False, "<think>" + "x" * 500 + "</think>C"),
    ],
)
def test_thinking_is_never_stopped(text, thinking, stopped):
    assert stopped_text(LETTERS, text, thinking)[0] == stopped


def test_thinking_in_one_piece_is_the_same():
    assert stop_at(LETTERS, ["<think>\nC\n</think>\n\nD"]) == (1, "D")
    assert stop_at(LETTERS, ["<think>\nC\n</think>\n\nD\n<think>"]) == (None, None)


@pytest.mark.parametrize(
    ("choices", "text", "stopped"),
    [
        (WORDS, "I will COOPERATE. Then", "I will COOPERATE."),
        (WORDS, "We COOPERATED, now DEFECT!", "We COOPERATED, now DEFECT!"),
        (DEMANDS, "I demand 10 of it", "I demand 10 "),
        (DEMANDS, "I demand 1 of it", "I demand 1 o"),
        (SMALL["vectors"], "My demand is [1, 2], and", "My demand is [1, 2],"),
        (LETTERS, "I like D.", "I like D."),
        (LETTERS, "C", "C"),
        (WORDS, "COOPERATE", "COOPERATE"),
        (WORDS, "x" * 300 + " so DEFECT, yes", "x" * 300 + " so DEFECT,"),
    ],
)
def test_in_mid_text_by_a_setting(choices, text, stopped):
    assert stopped_text(choices, text, mid_text=True)[0] == stopped


def test_two_actions_in_one_piece_are_ambiguous():
    assert stop_at(LETTERS, ["C or D? ", "D. ", "\n", "D"], mid_text=True) == (4, "D")


def test_the_end_of_a_long_line_is_not_taken_for_the_line():
    assert stopped_text(LETTERS, "x" + " " * 70 + "C\n") == (None, None)


def test_a_line_whose_beginning_is_lost_names_nothing():
    argued = "C or D?" + " x" * 600 + " D, then"
    assert stop_at(LETTERS, [argued], mid_text=True) == (None, None)
    assert stop_at(LETTERS, [argued, "\nD"], mid_text=True) == (2, "D")


def test_what_was_thought_is_no_reply():
    assert after_thinking("a<think>b</think>c") == "c"
    assert after_thinking("a<think>b") == after_thinking("a", thinking=True) == ""
    assert after_thinking("a</think>b", thinking=True) == "b"
    assert after_thinking("plain") == "plain"


# --- against a slow reading of the whole text


def reference(choices, pieces, thinking, mid_text):
    """The same rule, read from the whole text after every piece."""
    text = ""
    for number, piece in enumerate(pieces, 1):
        text += piece
        if (action := judged(choices, text, thinking, mid_text)) is not None:
            return number, action
    return None, None


def judged(choices, text, thinking, mid_text):
    # a tag lies within a line, since a line break is in none
    opened, closed = text.rfind("<think>"), text.rfind("</think>")
    if opened > closed or (thinking and closed < 0):
        return None
    text = text[closed + len("</think>") :] if closed >= 0 else text
    options = {line for action in choices for line in action.split("\n")}
    fill = choices.fill if isinstance(choices, Sheet) else 1
    mid_text = mid_text and isinstance(choices, Flat)
    room = max(len(plain(option)) for option in options) + (1000 if mid_text else 64)
    lines = text.splitlines()
    open_line = bool(lines) and bool(lines[-1].strip()) and (text + "|").splitlines()[-1] != "|"
    filled = [line for line in lines if line.strip()][-fill:]
    if len(filled) < fill:
        return None
    last = filled[-1].lstrip() if open_line else filled[-1].strip()
    if len(filled[-1].lstrip()) > room:
        return None
    bare = re.escape(unwrap_line(last)) if unwrap_line(last) else ""
    starts = {plain(last), plain(last[re.search(bare, last).start() :])}
    grows = any(plain(option).startswith(start) != (plain(option) == start) for option in options for start in starts)
    if {plain(last), plain(unwrap_line(last))} & {plain(option) for option in options}:
        if (open_line and grows) or any(len(line.lstrip()) > room for line in filled):
            return None
        return choices.parse("\n".join(filled)).action
    if not mid_text:
        return None
    action = choices.parse(last).action
    if action is None or not open_line:
        return action
    rest = last.casefold()[last.casefold().rfind(action.casefold()) :]
    going_on = any(plain(option).startswith(plain(rest)) and plain(option) != plain(rest) for option in options)
    return None if len(rest) == len(action.casefold()) or going_on else action


SETS = {"words": WORDS, "letters": LETTERS, "demands": DEMANDS, "prefixes": PREFIXES, "builds": BUILDS,
        "tangled": TANGLED, "vectors": SMALL["vectors"], "one": SMALL["one"]}  # fmt: skip
FILLERS = ["\n", " ", "\n\n", ".", "**", "-", "'", "x", "<think>", "</think>", "<", "think>", "</thi", "nk>", "\r\n"]
FILLERS += [
    "\u2028",
    "\x0b",
    "\u017f",
    "İ",
    "ß",
    "\ufffd",
    "\x00",
    " VIA",
    "10",
    "C",
    "D",
    "5.5",
    "WAIVE",
    "_",
    "(",
    "]",
    "\t",
]


@st.composite
def replies(draw):
    name = draw(st.sampled_from(sorted(SETS)))
    options = sorted({line for action in SETS[name] for line in action.split("\n")})
    bits = st.one_of(st.sampled_from(FILLERS), st.sampled_from(options), st.sampled_from(options).map(str.lower))
    text = "".join(draw(st.lists(bits, max_size=14)))
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(text))), max_size=12)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    return name, pieces if draw(st.booleans()) else list(text), draw(st.booleans()), draw(st.booleans())


@settings(max_examples=200, deadline=None)
@given(replies())
def test_it_equals_reading_the_whole_text_again(reply):
    name, pieces, thinking, mid_text = reply
    expected = reference(SETS[name], pieces, thinking, mid_text)
    assert stop_at(SETS[name], pieces, thinking, mid_text=mid_text) == expected


@settings(max_examples=300, deadline=None)
@given(replies())
def test_what_it_stops_at_is_what_the_parser_reads(reply):
    name, pieces, thinking, mid_text = reply
    number, action = stop_at(SETS[name], pieces, thinking, mid_text=mid_text)
    if number is not None:
        said = after_thinking("".join(pieces[:number]), thinking)
        assert SETS[name].parse(said).action == action


# --- hostile and endless replies


@pytest.mark.parametrize(
    "text",
    ["\x00" * 3000, "<think>" * 400, "[" * 3000, "C" * 3000, " " * 3000, "\n" * 3000, "🂡" * 500, "A PAR - " * 300,
     "".join(map(chr, range(0x20, 0x600))), "_" * 3000 + " C D", "</think>" * 300],
    ids=range(11),
)  # fmt: skip
def test_hostile_replies_stop_nothing_but_actions(text):
    for choices in SETS.values():
        for mid_text in (False, True):
            number, action = stop_at(choices, text, mid_text=mid_text)
            assert (number is None) == (action is None)
            assert action is None or action in choices


def test_the_cost_of_a_token_does_not_grow_with_the_text():
    for choices, filler in ((MANY, "A PAR says so. "), (ORDERS, "A PAR - BUR X\n"), (MANY, "word ")):
        watch = StopRule(choices).watch()
        times = []
        for _ in range(4):
            start = time.perf_counter()
            for _ in range(2000):
                assert not watch.feed(filler)
            times.append((time.perf_counter() - start) / 2000 * 1e6)
        print(f"a piece of {filler!r}: {', '.join(f'{one:.1f}' for one in times)} microseconds")  # noqa: T201 - for the log
        assert len(watch.line.text) <= watch.rule.room
        assert len(watch.lines) <= watch.rule.fill
