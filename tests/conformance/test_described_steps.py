"""Steps of described games: small games with each of their options keep every rule, and redraw what is hidden."""

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from stratagem.games import Key
from stratagem.games.conformance.verify import verify
from stratagem.games.drawn.rules import WrittenGame
from stratagem.games.enumeration import joint_actions, outcomes, starts

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "games").glob("*.toml"))
CARDS = '[[items]]\nname = "card"\nvalues = [2, 5, 6, 9]\nsuits = ["a", "b"]\n'
DICE = '[[items]]\nname = "die"\nvalues = [1, 2, 3]\nagain = true\n'
COINS = '[[items]]\nname = "value"\nvalues = [1, 2]\nagain = true\n'


def steps(*tables: str) -> str:
    return "".join(f"[[steps]]\n{table}\n" for table in tables)


def poker(order: str, *more: str, bet: str = "", top: str = "") -> str:
    opened = 'do = "deal"\nto = "all"'
    return top + CARDS + steps('do = "ante"', 'do = "deal"', opened, f'do = "bet"\n{bet}', *more) + show(order)


def show(order: str, more: str = "") -> str:
    return steps(f'do = "showdown"\norder = {order}\n{more}')


def choice(name: str, options: str, more: str = "") -> str:
    return f'do = "choose"\nname = "{name}"\noptions = {options}\n{more}'


MOVE = choice("move", '["L", "R"]')
TABLE = 'do = "table"\nover = ["first.move", "second.move"]\namounts = [[[2, 1], [0, 0]], [[0, 0], [1, 2]]]'
TIED = 'do = "table"\nover = ["first.move", "second.move"]\namounts = [[[1, 1], [1, 0]], [[0, 1], [0, 0]]]'
SOLO = 'do = "table"\nover = ["first.card", "first.guess"]\namounts = [[[1], [0]], [[0], [1]]]'
TWO_CARDS = '[[items]]\nname = "card"\nvalues = ["J", "Q"]\n'
GAMES = {
    **{path.stem: path.read_text() for path in EXAMPLES},
    **{f"showdown {order}": poker(f'["{order}"]') for order in ("high", "low", "pair", "near", "sum", "suit")},
    "showdown in a row": poker('["pair", "suit", "high"]'),
    "showdown shown": CARDS + steps('do = "ante"', 'do = "deal"', 'do = "bet"') + show('["sum"]', "shown = true"),
    "three in betting": poker('["high"]', bet="raises = 2", top="seats = 3\n"),
    "four in betting": "seats = 4\nturns = true\nrounds = 2\n"
    + DICE.replace("die", "card").replace("again = true", "copies = 2")
    + steps('do = "ante"', 'do = "deal"', 'do = "bet"')
    + show('["low"]'),
    **{
        f"sale {price} {worth} {seats}": f"seats = {seats}\n{COINS}"
        + steps(
            'do = "deal"\nitem = "value"',
            choice("bid", "[0, 1, 2]"),
            f'do = "sale"\nprice = "{price}"\nworth = "{worth}"\nreserve = 1',
        )
        for price in ("first", "second", "all", "lost")
        for worth in ("own", "common")
        for seats in (2, 3)
    },
    "sale by names": COINS
    + steps(
        'do = "deal"\nitem = "value"\ncount = 2',
        choice("bid", '["LOW", "HIGH"]'),
        'do = "sale"\namounts = [0.5, 1.5]',
    ),
    **{
        f"choice {shown} {'together' if together == 'true' else 'in turn'}": "rounds = 2\n"
        + steps(choice("move", '["L", "R"]', f'shown = "{shown}"\ntogether = {together}'), TIED)
        for shown in ("at once", "after", "end", "never")
        for together in ("true", "false")
    },
    "choice of one": steps(
        choice("one", '["L", "R"]', 'by = "first"'),
        choice("two", '["L", "R"]', 'by = "second"\nshown = "end"'),
        'do = "table"\nover = ["first.one", "second.two"]\namounts = [[[1, -1], [0, 0]], [[0, 0], [1, -1]]]',
    ),
    "options": CARDS
    + steps(
        'do = "ante"',
        'do = "deal"',
        choice(
            "move",
            '[{word = "STAY"}, {word = "RAISE", cost = 2, needs = ["6", "9"]}, {word = "GO", leaves = true}]',
            'pot = true\ntogether = false\nshown = "at once"',
        ),
    )
    + show('["high"]'),
    "options at once": "seats = 3\n"
    + DICE.replace("die", "card").replace("again = true", "copies = 2")
    + steps(
        'do = "ante"',
        'do = "deal"\nto = "all"',
        choice("move", '[{word = "STAY", cost = 0.5}, {word = "GO", leaves = true}]'),
        'do = "deal"',
        'do = "bet"',
    )
    + show('["high"]'),
    "hidden needs": CARDS
    + steps(
        'do = "deal"', choice("move", '["L", {word = "R", needs = ["2", "5"], cost = 1}]', 'shown = "never"'), TABLE
    ),
    "swap": CARDS
    + steps('do = "ante"\namount = 0.5', 'do = "deal"', 'do = "swap"\ncost = 1', 'do = "bet"')
    + show('["high"]'),
    "swap by one": CARDS
    + steps(
        'do = "ante"', 'do = "deal"\ncount = 2', 'do = "swap"\nby = "second"', 'do = "show"\nof = "first"', 'do = "bet"'
    )
    + show('["sum"]'),
    "claims of three": "seats = 3\n" + DICE + steps('do = "deal"\nitem = "die"', 'do = "claim"\nstake = 2'),
    "claims with an open die": DICE
    + steps('do = "deal"\nitem = "die"', 'do = "deal"\nitem = "die"\nto = "all"', 'do = "claim"\nwild = "1"'),
    "offers": COINS
    + steps(
        'do = "deal"\nitem = "value"',
        'do = "offer"\nsum = 6\nstep = 2\nturns = 3\nshrink = 1\nelse_pays = [1, 0.5]\nworth = "value"',
    ),
    "split by worth": COINS
    + steps(
        'do = "deal"\nitem = "value"',
        choice("demand", "[0, 2, 5]"),
        'do = "split"\nsum = 6\nworth = "value"\nelse_pays = -1',
    ),
    "pool of four": "seats = 4\n" + steps(choice("gift", "[0, 2]"), 'do = "pool"\nfactor = 2'),
    "signals": TWO_CARDS
    + steps(
        'do = "deal"\nto = "first"',
        choice("signal", '["UP", "DOWN"]', 'by = "first"'),
        choice("guess", '["J", "Q"]', 'by = "second"'),
        'do = "table"\nover = ["first.card", "second.guess"]\namounts = [[[1, 1], [0, 0]], [[0, 0], [1, 1]]]',
    ),
    "open card": TWO_CARDS
    + steps(
        MOVE,
        'do = "deal"\nto = "all"',
        'do = "table"\nover = ["all.card", "first.move"]\namounts = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]',
    ),
    "one seat": "seats = 1\nrounds = 2\n" + TWO_CARDS + steps(choice("guess", '["J", "Q"]'), 'do = "deal"', SOLO),
    "match that forgets": "rounds = 4\nturns = true\nforget = true\n"
    + TWO_CARDS
    + "copies = 2\n"
    + steps('do = "ante"', 'do = "deal"', 'do = "bet"')
    + show('["high"]'),
    "rounds that may end": "rounds = 5\ncontinuation = 0.6\nwording = 1\n" + steps(MOVE, TABLE),
}


SLOW = {
    "four in betting",
    "match that forgets",
    "swap",
    "leduc",
    "options at once",
    "claims of three",
    "auction",
    "three in betting",
}


def game(name: str) -> WrittenGame:
    text = GAMES[name]
    return WrittenGame(text=text if "\nname = " in f"\n{text.partition('[[')[0]}" else f'name = "{name}"\n{text}')


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.runs) if name in SLOW else name for name in GAMES]
)
def test_described_game_keeps_every_rule(name):
    report = verify(game(name), episodes=3)
    assert [(check.name, check.detail) for check in report.checks if check.outcome == "failed"] == []


REDRAWN = {
    "swap": "values = ['J', 'Q', 'K', 'A']" + steps('do = "deal"', 'do = "swap"', choice("move", '["L", "R"]'), TABLE),
    "needs": "values = [1, 2, 3]\ncopies = 2"
    + steps(
        'do = "deal"',
        choice("move", '["L", {word = "R", needs = ["3"]}]', 'together = false\nshown = "at once"'),
        choice("more", '["L", {word = "R", needs = ["1", "2"]}]', 'together = false\nshown = "at once"'),
        TABLE,
    ),
    "hidden choice": "values = [1, 2, 3]"
    + steps(
        'do = "deal"',
        choice("secret", '["L", {word = "R", needs = ["1"]}]', 'shown = "never"'),
        choice("move", '["L", {word = "R", needs = ["2"]}]', 'together = false\nshown = "at once"'),
        TABLE,
    ),
    "open": "values = [1, 2]\ncopies = 2"
    + steps('do = "deal"', 'do = "deal"\nto = "all"', choice("move", '["L", "R"]', "together = false"), TABLE),
}
Hidden = Counter[tuple[object, ...]]


def hidden_by_view(made: WrittenGame) -> dict[tuple[int, str], tuple[Counter, object]]:
    """Probability of what is hidden, by seat and what it sees, where all play evenly; with a state of each view."""
    known: dict[tuple[int, str], tuple[Counter, object]] = {}
    reached = [(Fraction(chance).limit_denominator(1000), state) for chance, state in starts(made)]
    while reached:
        chance, state = reached.pop()
        for seat in state.to_act:
            counts, _ = known.setdefault((seat, state.view(seat).info_key), (Counter(), state))
            counts[state.hands, state.choices] += chance
        joint = list(joint_actions(state))
        for actions in joint:
            reached += [
                (chance * Fraction(share).limit_denominator(1000) / len(joint), after)
                for share, after, _ in outcomes(state, actions)
            ]
    return known


@pytest.mark.parametrize("name", REDRAWN)
def test_redraw_follows_the_chance_of_what_is_hidden(name):
    made = WrittenGame(
        text=f'name = "{name}"\n[[items]]\nname = "card"\n{REDRAWN[name]}'.replace("[[steps", "\n[[steps")
    )
    views = hidden_by_view(made)
    seat, key = max(views, key=lambda view: (len(views[view][0]), len(view[1]), view))
    counts, state = views[seat, key]
    assert len(counts) > 2
    state = made.load(state.dump(), Key(0))
    drawn = Counter()
    for number in range(600):
        other = state.resample(seat, Key(number))
        assert other.view(seat).info_key == key
        drawn[other.hands, other.choices] += 1
    assert drawn.keys() <= counts.keys()
    total = sum(counts.values())
    spread = sum((drawn[one] - 600 * share / total) ** 2 / (600 * share / total) for one, share in counts.items())
    assert spread < len(counts) - 1 + 4 * (2 * (len(counts) - 1)) ** 0.5  # chi-squared, four deviations
