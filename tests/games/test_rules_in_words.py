"""Rules in words say all of a described game: a parser rebuilds it, and every sentence is needed."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from rules_parser import NUMBERS, ROLES, Unreadable, parse_rules

from stratagem.base.errors import CannotCompute, StratagemError
from stratagem.base.sentences.reading import SentenceFile
from stratagem.games.counting import plural_of
from stratagem.games.disguise import generate_disguise
from stratagem.games.disguise.proof import left_in_plain_words
from stratagem.games.drawn.acceptance import count_pieces
from stratagem.games.drawn.drawing import FAMILIES, draw_game, sketch
from stratagem.games.drawn.reading import read_description, write_description
from stratagem.games.drawn.rules import WrittenGame
from stratagem.games.drawn.texts import write_rules
from stratagem.games.drawn.wordings import count_wordings, read_wordings
from stratagem.games.key import Key
from stratagem.games.tree_walk import walk

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "games").glob("*.toml"))
WALKED = ("kuhn", "dilemma")
"""Examples with small trees, on which changed rules are walked."""
SEED = 3
NAMED = {"who", "Who", "are", "role", "number", "place", "demands"}
COLUMNS = ("parent", "mover", "information_set", "probability", "returns")


CHOICE = '[[steps]]\ndo = "choose"\n'
COINS = '[[items]]\nname = "coin"\nvalues = [1, 2]\nagain = true\n'
LEAVING = 'options = [{ word = "OUT", leaves = true }, "ONE", { word = "TWO", cost = 2 }]\n'
MOVES = f'{CHOICE}name = "move"\nshown = "end"\noptions = ["L", {{ word = "R", leaves = true, cost = 1 }}]\n'
TERMS = 'options = ["STAY", { word = "GO", cost = 2, needs = ["5", "9"] }, { word = "OUT", leaves = true }]\n'
TABLE = 'do = "table"\nover = ["first.move", "second.move"]\namounts = [[[2, 1], [0, 0]], [[0, 0], [1, -2.5]]]\n'


@pytest.mark.parametrize(
    ("thing", "several"),
    [("chip", "chips"), ("penny", "pennies"), ("day", "days"), ("box", "boxes"), ("die", "dice"), ("y", "ys")],
)
def test_plural_of_follows_the_spelling(thing, several):
    assert plural_of(thing) == several


def steps(*texts):
    return "".join(text if text.startswith("[[") else f"[[steps]]\n{text}\n" for text in texts)


DEAL = 'do = "deal"\nitem = "coin"'
POKER = steps(
    'do = "ante"',
    'do = "deal"',
    'do = "deal"\nto = "second"',
    *(f'do = "swap"\n{by}{cost}' for by in ("", 'by = "second"\n') for cost in ("", "cost = 2\n")),
    *(f'do = "show"\n{of}' for of in ("", 'of = "second"\n')),
    'do = "deal"\nto = "all"',
    f'{CHOICE}name = "sign"\nby = "second"\nshown = "never"\npot = true\n{TERMS}',
    f'{CHOICE}name = "mark"\nby = "first"\n{TERMS}',
    f'{CHOICE}name = "move"\ntogether = false\n{TERMS}',
    'do = "bet"\nraises = 3',
)
HANDS = '[[items]]\nname = "card"\nvalues = [2, 5, 6, 9]\nsuits = ["a", "b"]\ncopies = 3\n'
OPTIONS = [
    f'{HANDS}{POKER}[[steps]]\ndo = "showdown"\norder = ["pair", "suit", "near", "sum", "high", "low"]\nshown = true\n',
    *(
        COINS + steps(f"{DEAL}{count}", f'{CHOICE}name = "bid"\n{LEAVING}', sale + f'\nprice = "{price}"{reserve}')
        for sale in (
            'do = "sale"\nitem = "coin"\namounts = [0, 1, 2.5]',
            'do = "sale"\nitem = "coin"\namounts = [0, 1, 2]',
        )
        for price in ("first", "second", "all", "lost")
        for count, reserve in (("", ""), ("\ncount = 2", "\nreserve = 1.5"), ("", '\nworth = "common"'))
    ),
    *(
        COINS
        + steps(
            f"{DEAL}{count}",
            'do = "offer"\nsum = 6\nstep = 2\nturns = 2\nshrink = 1\nelse_pays = [1, 0.5]\nworth = "coin"',
            f'{CHOICE}name = "gone"\nby = "second"\noptions = ["NO", {{ word = "YES", leaves = true, cost = 1 }}]\n',
            f'{CHOICE}name = "demand"\noptions = [0, 2, 5]\n',
            'do = "split"\nsum = 6\nworth = "coin"\nelse_pays = -1',
            'do = "pool"\ngift = "demand"\nfactor = 1.25',
        )
        for count in ("", "\ncount = 2")
    ),
    f"rounds = 3\ncontinuation = 0.5\nturns = true\nseats = 2\n{steps(MOVES, TABLE)}",
    f"rounds = 2\nforget = true\n{COINS}"
    + steps(DEAL + '\nto = "all"', f'{CHOICE}name = "move"\nshown = "never"\noptions = ["L", "R"]\n')
    + steps('do = "table"\nover = ["all.coin", "first.move"]\namounts = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]'),
    f"seats = 1\n{HANDS}"
    + steps('do = "ante"', 'do = "deal"', 'do = "deal"\nto = "first"', 'do = "swap"', 'do = "swap"\ncost = 1')
    + steps('do = "show"', f'{CHOICE}name = "mark"\ntogether = false\n{TERMS}', f'{CHOICE}name = "move"\n{TERMS}')
    + steps('do = "showdown"'),
    '[[items]]\nname = "die"\nvalues = [1, 2]\nagain = true\n'
    + steps(*('do = "deal"\nitem = "die"', 'do = "claim"') * 2),
]
"""Games that have the sentences that no example has."""


def wordings(description):
    return [replace(description, wording=wording) for wording in range(count_wordings())]


def as_before(rebuilt, description):
    """Return what was rebuilt with what words do not tell: the name, and the number of the wording."""
    return replace(rebuilt, name=description.name, wording=description.wording)


def assert_rebuilt(description):
    for seat in range(description.seats):
        rebuilt, addressed = parse_rules(write_rules(description, seat))
        assert addressed in (seat, None)
        assert write_description(as_before(rebuilt, description)) == write_description(description)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_parser_rebuilds_an_example_from_its_rules(path):
    for description in wordings(read_description(path.read_text())):
        assert_rebuilt(description)


def test_parser_rebuilds_games_that_have_every_sentence(monkeypatch):
    written, fill = set(), SentenceFile.wordings

    def recorded(self, key, **words):
        written.add(key)
        return fill(self, key, **words)

    monkeypatch.setattr(SentenceFile, "wordings", recorded)
    write_rules.cache_clear()
    for text in (*(path.read_text() for path in EXAMPLES), *(f'name = "Options"\n{text}' for text in OPTIONS)):
        for description in wordings(read_description(text)):
            assert_rebuilt(description)
    assert set(read_wordings()) - written == set()


def test_wordings_tell_the_same_in_each_sentence():
    """A key has the same fields in all wordings; names of players, verbs and endings are those of a wording."""
    fields = [{} for _ in range(count_wordings())]
    for key in read_wordings():
        wording, _, rest = key.partition(".")
        about_all = re.sub(r"_(each|you)$", "", rest)
        told = {*re.findall(r"\{(\w+)\}", *read_wordings().texts(key))} - NAMED
        assert fields[int(wording)].setdefault(about_all, told) == told
    assert all({key: one[key] for key in one if key.rpartition("_")[2] != "alone"} == fields[0] for one in fields)


def count_most_pieces(description):
    return max(count_pieces(write_rules(description, seat)) for seat in range(description.seats))


@pytest.mark.parametrize("family", FAMILIES)
def test_third_wording_is_hardly_longer_than_those_that_are_drawn(family):
    """The acceptance of a draw has measured the rules in its own wording alone, which allows 400 pieces."""
    for number in range(20):
        found, words = sketch(family, "large", Key(number))
        first, second, third = map(count_most_pieces, wordings(found.describe("Sketch", words)))
        assert third <= max(first, second) + 8


@pytest.mark.parametrize("family", FAMILIES)
def test_disguise_renames_all_words_in_every_wording(family):
    for description in wordings(draw_game(SEED, family, "small").description):
        game = WrittenGame.of(description)
        disguise, state = generate_disguise(game, 1), game.start(Key(0))
        view = state.view(state.to_act[0])
        assert left_in_plain_words(disguise, view) == ""
        plain = [word for word in game.vocabulary() if len(word) > 3]
        assert not any(re.search(rf"\b{word}", disguise.view(view).rules, re.IGNORECASE) for word in plain)


@pytest.mark.parametrize("family", FAMILIES)
def test_parser_rebuilds_draws_from_their_rules(family):
    for description in wordings(draw_game(SEED, family, "small").description):
        assert_rebuilt(description)


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_parser_rebuilds_a_thousand_draws(family):
    for seed in range(1000):
        for description in wordings(draw_game(seed, family, "small").description):
            assert_rebuilt(description)


def test_rules_tell_the_least_price_of_a_sale():
    text = next(path for path in EXAMPLES if path.stem == "auction").read_text()
    text = text.replace('do = "sale"', 'do = "sale"\nprice = "second"\nreserve = 2')
    for description in wordings(read_description(text)):
        assert_rebuilt(description)
        with pytest.raises(Unreadable):
            parse_rules(re.sub(r", but (at|not) \w+( than)? 2 points", "", write_rules(description, 0)))


OUT = 'options = [{ word = "OUT", leaves = true }, "ONE", "TWO"]'


@pytest.mark.parametrize(("reserve", "paid"), [("", 0.0), ("\nreserve = 1", 1.0)])
def test_rules_tell_the_price_of_a_bid_alone(reserve, paid):
    text = next(path for path in EXAMPLES if path.stem == "auction").read_text().replace("options = [1, 2, 3]", OUT)
    text = text.replace('do = "sale"', f'do = "sale"\nprice = "second"\namounts = [0, 1, 2]{reserve}')
    for description in wordings(read_description(text)):
        assert_rebuilt(description)
        lines = write_rules(description, 0).split("\n")
        (alone,) = [line for line in lines if "no other" in line or "single bid" in line or "only bid" in line]
        with pytest.raises(Unreadable):
            parse_rules("\n".join(line for line in lines if line != alone))
        with pytest.raises(Unreadable):
            parse_rules("\n".join(lines).replace(alone, alone.replace(f"{paid:g} point", "2 point")))
    state = WrittenGame(text=text.replace("[1, 2, 3]", "[3]")).start(Key(0))
    assert state.play({0: "TWO", 1: "OUT"}).payoffs == (3.0 - paid, 0.0)


@pytest.mark.parametrize("name", ["auction", "offers", "pie"])
def test_rules_tell_that_several_pieces_are_added(name):
    item = '[[items]]\nname = "value"\nvalues = [1, 2, 3]\nagain = true\n\n'
    deal = '[[steps]]\ndo = "deal"\nitem = "value"\n'
    choose = '[[steps]]\ndo = "choose"\noptions = [1, 2]\n'
    texts = {
        "auction": f'{choose}name = "bid"\n\n[[steps]]\ndo = "sale"\n',
        "offers": '[[steps]]\ndo = "offer"\nsum = 4\nworth = "value"\n',
        "pie": f'{choose}name = "demand"\n\n[[steps]]\ndo = "split"\nworth = "value"\n',
    }
    one, several = (f'name = "Sums"\n\n{item}{deal}{count}\n{texts[name]}' for count in ("", "count = 2\n"))
    for description in (*wordings(read_description(one)), *wordings(read_description(several))):
        assert_rebuilt(description)
    for alone, added in zip(*(wordings(read_description(text)) for text in (one, several)), strict=True):
        lines = {*write_rules(added, 0).split("\n")} - {*write_rules(alone, 0).split("\n")}
        (worth,) = [line for line in lines if "2 values" not in line]
        assert re.search(r"the (sum|total) of", worth)


def test_situation_names_players_by_their_place_in_the_round():
    text = next(path for path in EXAMPLES if path.stem == "auction").read_text()
    state = WrittenGame(text=f"seats = 3\nturns = true\n{text}").start(Key(0))
    for bids in ("123", "321"):
        state.play(dict(enumerate(bids)))
    lines = [line for line in state.view(0).situation.split("\n") if "(bid)" in line]
    assert lines[:3] == ["You: 1 (bid).", "The second player: 2 (bid).", "The third player: 3 (bid)."]
    assert lines[3:] == ["You: 3 (bid).", "The first player: 2 (bid).", "The second player: 1 (bid)."]


@cache
def tree_of(text):
    """Return the columns of a game's tree, with the names of its sets and actions."""
    tree = walk(WrittenGame(text=text), 200_000)
    sets = [(known.seat, known.view.info_key, known.actions) for known in tree.information_sets]
    return [getattr(tree, name) for name in COLUMNS], sets


def differ(first, second):
    texts = [write_description(replace(one, wording=0)) for one in (first, second)]  # walked once for all wordings
    (columns, sets), (others, other_sets) = map(tree_of, texts)
    return sets != other_sets or any(
        one.shape != other.shape or not np.array_equal(one, other) for one, other in zip(columns, others, strict=True)
    )


def changed_texts(text, actions):
    """Yield texts without each line, and with each number, each place of a player and each action changed.

    A number has two changes, by 1 and by 10: a limit of 6 and one of 7 are the same where all amounts are even.
    """
    lines = text.split("\n")
    for place, line in enumerate(lines):
        yield f"without {line!r}", ["\n".join([*lines[:place], *lines[place + 1 :]])]
        for found in re.finditer(r"\d+(?:\.\d+)?", line):
            others = [f"{line[: found.start()]}{float(found[0]) + more:g}{line[found.end() :]}" for more in (1, 10)]
            yield f"with {others[0]!r}", ["\n".join([*lines[:place], other, *lines[place + 1 :]]) for other in others]
        for found in re.finditer(rf"\b({'|'.join(NUMBERS)})\b", line):
            other = line[: found.start()] + NUMBERS[NUMBERS.index(found[0]) + 1] + line[found.end() :]
            yield f"with {other!r}", ["\n".join([*lines[:place], other, *lines[place + 1 :]])]
        for found in re.finditer(rf"\b({'|'.join(ROLES)})\b", line):
            other = line[: found.start()] + ROLES[1 - ROLES.index(found[0])] + line[found.end() :]
            yield f"with {other!r}", ["\n".join([*lines[:place], other, *lines[place + 1 :]])]
        for word in actions:
            for found in re.finditer(rf"\b{re.escape(word)}\b", line):
                new = next(action for action in (*actions, "OTHER") if action != word)
                other = line[: found.start()] + new + line[found.end() :]
                yield f"with {other!r}", ["\n".join([*lines[:place], other, *lines[place + 1 :]])]


def is_idle(text, description):
    """Return whether the parser reads a changed text of the first seat as the same tree."""
    try:
        rebuilt, seat = parse_rules(text)
    except (Unreadable, StratagemError, ValueError):
        return False
    try:
        return seat == 0 and not differ(as_before(rebuilt, description), description)
    except CannotCompute:
        return False  # its tree is beyond the budget, which that of the description is not


def idle_changes(description):
    """Return the changes of the rules that the parser does not notice, or that leave the tree as it is."""
    actions = [word for step in description.steps for word in step.words()]
    changes = changed_texts(write_rules(description, 0), actions)
    return [what for what, texts in changes if all(is_idle(text, description) for text in texts)]


@pytest.mark.parametrize("name", WALKED)
def test_every_sentence_of_an_example_is_needed(name):
    path = next(path for path in EXAMPLES if path.stem == name)
    for description in wordings(read_description(path.read_text())):
        assert idle_changes(description) == []


@pytest.mark.parametrize(
    "family", [pytest.param(family, marks=[pytest.mark.runs] * (family == "mixed")) for family in FAMILIES]
)
def test_every_sentence_of_a_draw_is_needed(family):
    draw = min((draw_game(seed, family, "small") for seed in (1, 2)), key=lambda d: d.worth.nodes)
    for description in wordings(draw.description):
        assert idle_changes(description) == []


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_every_sentence_of_a_hundred_draws_is_needed(family):
    for seed in range(100):
        for description in wordings(draw_game(seed, family, "small").description):
            assert idle_changes(description) == [], seed
