"""Rules in words say all of a described game: a parser rebuilds it, and every sentence is needed."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from rules_parser import NUMBERS, Unreadable, parse_rules

from stratagem.base.errors import StratagemError
from stratagem.games.drawn.drawing import draw_game
from stratagem.games.drawn.generator.mixing import FAMILIES
from stratagem.games.drawn.reading import read_description, write_description
from stratagem.games.drawn.rules import WrittenGame
from stratagem.games.drawn.texts import write_rules
from stratagem.games.key import Key
from stratagem.games.tree_walk import walk

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "games").glob("*.toml"))
WALKED = ("kuhn", "dilemma")
"""Examples with small trees, on which changed rules are walked."""
SEED = 3
COLUMNS = ("parent", "mover", "information_set", "probability", "returns")


def wordings(description):
    return [replace(description, wording=wording) for wording in (0, 1)]


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
            parse_rules(write_rules(description, 0).replace(", but at least 2 points", ""))


OUT = 'options = [{ word = "OUT", leaves = true }, "ONE", "TWO"]'


@pytest.mark.parametrize(("reserve", "paid"), [("", 0.0), ("\nreserve = 1", 1.0)])
def test_rules_tell_the_price_of_a_bid_alone(reserve, paid):
    text = next(path for path in EXAMPLES if path.stem == "auction").read_text().replace("options = [1, 2, 3]", OUT)
    text = text.replace('do = "sale"', f'do = "sale"\nprice = "second"\namounts = [0, 1, 2]{reserve}')
    for description in wordings(read_description(text)):
        assert_rebuilt(description)
        lines = write_rules(description, 0).split("\n")
        (alone,) = [line for line in lines if "no other" in line or "single bid" in line]
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
    (columns, sets), (others, other_sets) = map(tree_of, map(write_description, (first, second)))
    return sets != other_sets or any(
        one.shape != other.shape or not np.array_equal(one, other) for one, other in zip(columns, others, strict=True)
    )


def changed_texts(text, actions):
    """Yield a text without each of its lines, with each number changed, and with each action named as another one."""
    lines = text.split("\n")
    for place, line in enumerate(lines):
        yield f"without {line!r}", "\n".join([*lines[:place], *lines[place + 1 :]])
        for found in re.finditer(r"\d+(?:\.\d+)?", line):
            other = f"{line[: found.start()]}{float(found[0]) + 1:g}{line[found.end() :]}"
            yield f"with {other!r}", "\n".join([*lines[:place], other, *lines[place + 1 :]])
        for found in re.finditer(rf"\b({'|'.join(NUMBERS)})\b", line):
            other = line[: found.start()] + NUMBERS[NUMBERS.index(found[0]) + 1] + line[found.end() :]
            yield f"with {other!r}", "\n".join([*lines[:place], other, *lines[place + 1 :]])
        for word in actions:
            for found in re.finditer(rf"\b{re.escape(word)}\b", line):
                new = next(action for action in (*actions, "OTHER") if action != word)
                other = line[: found.start()] + new + line[found.end() :]
                yield f"with {other!r}", "\n".join([*lines[:place], other, *lines[place + 1 :]])


def idle_changes(description):
    """Return the changes of the rules that the parser does not notice, or that leave the tree as it is."""
    actions = [word for step in description.steps for word in step.words()]
    idle = []
    for what, text in changed_texts(write_rules(description, 0), actions):
        try:
            rebuilt, seat = parse_rules(text)
        except (Unreadable, StratagemError, ValueError):
            continue
        if seat == 0 and not differ(as_before(rebuilt, description), description):
            idle.append(what)
    return idle


@pytest.mark.parametrize("name", WALKED)
def test_every_sentence_of_an_example_is_needed(name):
    path = next(path for path in EXAMPLES if path.stem == name)
    for description in wordings(read_description(path.read_text())):
        assert idle_changes(description) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_every_sentence_of_a_draw_is_needed(family):
    for wording in (0, 1):
        description = min(
            (draw_game(seed, family, "small") for seed in (1, 2)), key=lambda d: d.worth.nodes
        ).description
        assert idle_changes(replace(description, wording=wording)) == []


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_every_sentence_of_a_hundred_draws_is_needed(family):
    for seed in range(100):
        description = draw_game(seed, family, "small").description
        assert idle_changes(description) == [], seed
