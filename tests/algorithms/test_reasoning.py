"""The words of the demonstrations: what they claim is so, and nothing in them comes from what the seat cannot see."""

import re
from collections import Counter

import pytest

from stratagem.base.sentences.reading import read_sentences
from stratagem.games.auction import BIDS
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.negotiation_v2.demonstrations import in_words
from stratagem.games.safety.catalogue import SAFETY
from stratagem.learn.demonstrations.reasoning.base import draw_wording
from stratagem.learn.demonstrations.reasoning.catalogue import REASONERS, reasoning
from stratagem.learn.demonstrations.scripted import decisions, planned_episodes
from stratagem.players.base import Ask
from stratagem.players.catalogue import make_player
from stratagem.players.pools import demonstrators

WORDS = read_sentences("reasons").texts("negotiation-v1.numbers")
SPELT = {word: number for number, word in enumerate(WORDS)}
SPELT_OUT = "|".join(WORDS)
ITEMS = ("books", "hats", "balls")


def bundle(text):
    """`2 books and 1 hat` as numbers."""
    counts = {f"{item.rstrip('s')}s": int(count) for count, item in re.findall(r"(\d) (books?|hats?|balls?)", text)}
    return tuple(counts.get(item, 0) for item in ITEMS)


def tier(action):
    return 1 + BIDS.index(action)


CLAIMS = {
    "ipd": {
        "They (cooperated|defected) last round": lambda f, a, did: f.theirs[-1] == (did == "defected"),
        "Their last move was (cooperation|defection)": lambda f, a, did: f.theirs[-1] == (did == "defection"),
        r"In round (\d) they (cooperated|defected)": lambda f, a, n, did: (
            (int(n), did == "defected") == (len(f.theirs), f.theirs[-1])
        ),
        r"cooperated in (\d) of (\d) rounds?": lambda f, a, k, n: (
            (f.theirs.count(0), len(f.theirs)) == (int(k), int(n))
        ),
        r"no defection of theirs in (\d)": lambda f, a, n: f.theirs == (0,) * int(n),
        r"(?:They defected|their defection) in round (\d)": lambda f, a, n: f.theirs.index(1) == int(n) - 1,
        r"Round (\d) brought a defection": lambda f, a, n: f.theirs.index(1) == int(n) - 1,
        "cooperated every time": lambda f, a: f.theirs and 1 not in f.theirs,
        "Nothing has been played|no move of theirs|the first round": lambda f, a: not f.theirs,
        "(?:it says|settles it:|choose) (cooperation|defection)": lambda f, a, what: what[:6].upper() == a[:6],
        r"pays (\d) rather than (\d) against cooperation, and (\d) rather than (\d)": lambda f, a, *pays: (
            pays == ("5", "3", "1", "0")
        ),
        "get (?:only )?defection|it is defection|I answer in kind, so that using": lambda f, a: a == "DEFECT",
        "cooperation is what they get|this time: forgiving|This one I forgive": lambda f, a: a == "COOPERATE",
    },
    "auction": {
        r"(?:value (?:is|of|it at)|worth) (\d)": lambda f, a, v: f.value == int(v),
        "outbid last round|lost the last round": lambda f, a: f.past[-1].lost,
        r"Last round (\d) beat my (\d)": lambda f, a, they, i: (
            (f.past[-1].others, f.past[-1].bid, f.past[-1].lost) == ((int(they),), int(i), True)
        ),
        "won the last round": lambda f, a: f.past[-1].won,
        r"My (\d) won last round": lambda f, a, i: f.past[-1].won and f.past[-1].bid == int(i),
        r"was a tie at (\d)": lambda f, a, i: f.past[-1].others == (f.past[-1].bid,) == (int(i),),
        "was a tie": lambda f, a: not f.past[-1].won and not f.past[-1].lost,
        "the first round|Nobody has outbid": lambda f, a: not f.past,
        r"(?:lost|outbid me in) round (\d)": lambda f, a, n: (
            f.past[int(n) - 1].lost and not any(row.won or row.lost for row in f.past[int(n) :])
        ),
        r"(?:[Aa] bid of|: at|just that|I stay at my own value, a bid of) (\d)": lambda f, a, i: int(i) == tier(a),
        r"down to (\d)|full (\d)|so (\d), is harder|up to (\d)|from \d to (\d)": lambda f, a, *i: (
            int("".join(filter(None, i))) == tier(a)
        ),
        r"profit of (\d)|leaves (\d) over": lambda f, a, *i: int("".join(filter(None, i))) == f.value - tier(a),
        r"up from (\d)|usual (\d)": lambda f, a, *i: int("".join(filter(None, i))) == f.value - 1 == tier(a) - 1,
        "I bid all of it|just that": lambda f, a: f.value == tier(a),
        r"value is (\d), and no bid costs more|at (\d) there is no dearer": lambda f, a, *i: f.value == 3 == tier(a),
    },
    "negotiation-v1": {
        r"My (\w+) and their (\w+)": lambda f, a, i, they: (f.mine[-1], f.theirs[-1]) == (SPELT[i], SPELT[they]),
        "a deal|fitted": lambda f, a: f.mine[-1] + f.theirs[-1] <= 10,
        r"last round broke down|nothing last round|their \w+ were too much": lambda f, a: (
            f.mine[-1] + f.theirs[-1] > 10
        ),
        rf"[Rr]ound ({SPELT_OUT})\b": lambda f, a, n: (
            [mine + theirs > 10 for mine, theirs in zip(f.mine, f.theirs, strict=True)].index(True) == SPELT[n] - 1
        ),
        "No demand|the first round|I know nothing": lambda f, a: not f.mine,
        "No round has failed|nothing breaks down": lambda f, a: not f.broke_down,
        rf"asked for ({SPELT_OUT}) before|after ({SPELT_OUT})|from ({SPELT_OUT}) to": lambda f, a, *i: (
            SPELT["".join(filter(None, i))] == f.mine[-1]
        ),
        rf"They asked for ({SPELT_OUT})|that was ({SPELT_OUT})|: their ({SPELT_OUT})": lambda f, a, *i: (
            SPELT["".join(filter(None, i))] == f.theirs[-1] == int(a)
        ),
        rf"(?:I|and) ask for ({SPELT_OUT})|(?:open|start) (?:at|with) ({SPELT_OUT})|to ({SPELT_OUT}) now": (
            lambda f, a, *i: SPELT["".join(filter(None, i))] == int(a)
        ),
        rf"a demand of ({SPELT_OUT})|try for ({SPELT_OUT})|so ({SPELT_OUT}) will do|my half of ({SPELT_OUT})": (
            lambda f, a, *i: SPELT["".join(filter(None, i))] == int(a)
        ),
        rf"split asks for ({SPELT_OUT})|the pie is ({SPELT_OUT})": lambda f, a, *i: int(a) == 5,
    },
    "negotiation-v2": {
        r"[Bb]ooks (?:are worth )?(\d+)(?: to me)?, hats (\d+), balls (\d+)": lambda f, a, *v: (
            tuple(map(int, v)) == f.values
        ),
        r"(books|hats|balls), (?:at|worth) (\d+) each": lambda f, a, item, value: (
            f.values[ITEMS.index(item)] == int(value) == max(f.values)
        ),
        r"they wanted ([\w, ]+)\.|last demand was ([\w, ]+)\.": lambda f, a, *text: (
            bundle("".join(filter(None, text))) == f.theirs[-1]
        ),
        r"ask for ([\w, ]+)\.|(?:it|kind|up|else|pool|rest|fitted): ([\w, ]+)\.": lambda f, a, *text: (
            str(list(bundle("".join(filter(None, text))))) == a
        ),
        r"I take (\d) (\w+), all": lambda f, a, count, item: f.pool[ITEMS.index(item.rstrip("s") + "s")] == int(count),
        r"share by value that leaves ([\w, ]+), which": lambda f, a, text: str(list(bundle(text))) == a,
        "Half of it all|half of each": lambda f, a: not f.theirs,
        "would have fitted|share by value that leaves|leaves none of": lambda f, a: f.last_failed,
        "leaves nothing|that is nothing": lambda f, a: f.theirs[-1] == f.pool,
    },
    "kuhn": {
        r"([JQK]) (?:loses|beats J|is the weakest|is ahead|wins|is the best)": lambda f, a, c: f.card == c,
        "([Mm]y) ([JQK])": lambda f, a, _, c: f.card == c,
        r"and I open\.|first to act": lambda f, a: not f.line,
        r"they passed\.|left it to me": lambda f, a: f.line == "P",
        r"they bet\.|face a bet": lambda f, a: f.line == "B",
        "after I passed|my pass met": lambda f, a: f.line == "PB",
        "nothing to fear|sure to win": lambda f, a: (f.card, a) == ("K", "CALL"),
        "as I am ahead|sure to be ahead": lambda f, a: (f.card, a) == ("K", "BET"),
        "only be lost|cannot win": lambda f, a: (f.card, a) == ("J", "FOLD"),
        "I give up|is theirs|now I do not": lambda f, a: a == "FOLD",
        "now I do|I pay|let the pot go": lambda f, a: a == "CALL" or "F" in a,
        "such a hand|I try one": lambda f, a: (f.card, a) == ("J", "BET"),
        "I wait|add no chip|keep my chips|risk no chip|pot small|gains nothing": lambda f, a: a == "PASS",
        "(passing|betting|folding|calling)[.]": lambda f, a, what: what.upper().startswith(a),
    },
}
"""Statements about the facts and the action, each with its truth."""


@pytest.fixture(scope="module", params=CLAIMS)
def shown(request):
    return list(decisions(planned_episodes(make_game(request.param), 12, Key(42))))


def ways(one):
    """All that may be said of a decision, each way of it once."""
    reasons = REASONERS[one.view.game.spec.family][one.episode.demonstrator](one.view, one.action)
    return [way for said in reasons for way in said]


def test_what_is_said_is_so(shown):
    claims = CLAIMS[shown[0].view.game.spec.name]
    made = Counter()
    for one in shown:
        for way in ways(one):
            for claim, holds in claims.items():
                for found in re.finditer(claim, way):
                    assert holds(one.view.facts, one.action, *found.groups("")), (way, one.view.situation, one.action)
                    made[claim] += 1
    assert set(made) == set(claims)


def test_no_figure_goes_unchecked(shown):
    """One that stands in no claim could be wrong, and nobody would notice."""
    name = shown[0].view.game.spec.name
    figure = rf"\b(?:{SPELT_OUT})\b" if name == "negotiation-v1" else r"\d"
    for way in {way for one in shown for way in ways(one)}:
        claimed = [found.span() for claim in CLAIMS[name] for found in re.finditer(claim, way)]
        for found in re.finditer(figure, way):
            assert any(start <= found.start() and found.end() <= end for start, end in claimed), way


def test_every_demonstrator_has_reasons():
    assert {family: set(of) for family, of in REASONERS.items()} == {
        family: set(of) for family, safety in SAFETY.items() if (of := safety.demonstrators)
    }


@pytest.mark.parametrize("name", ["auction", "negotiation-v2", "kuhn"])
def test_reasoning_does_not_depend_on_what_the_seat_cannot_see(name):
    game, differ = make_game(name), 0
    for number in range(100):
        state = game.start(Key(number))
        (seat, *_) = state.to_act
        other = state.resample(seat, Key(number).at("other"))
        differ += other.view(1 - seat).info_key != state.view(1 - seat).info_key
        for who in demonstrators(game):
            action = make_player(who, game).turn(Ask(state.view(seat), Key(number), 0, 0, 0, None)).action
            words = [reasoning(who, there.view(seat), action, Key(number)) for there in (state, other)]
            assert words[0] == words[1]
    assert differ > 30


def test_a_key_draws_one_of_the_ways_for_each_thing_to_say():
    reasons = (("a", "b"), ("x", "y", "z"))
    assert {draw_wording(reasons, Key(number)) for number in range(200)} == {
        f"{one} {two}" for one in "ab" for two in "xyz"
    }
    assert draw_wording(reasons, Key(7)) == draw_wording(reasons, Key(7))


@pytest.mark.parametrize(
    ("bundle", "text"),
    [
        ((3, 1, 0), "3 books and 1 hat"),
        ((1, 2, 1), "1 book, 2 hats and 1 ball"),
        ((0, 0, 4), "4 balls"),
        ((0,) * 3, "nothing"),
    ],
)
def test_bundles_in_words(bundle, text):
    assert in_words(bundle) == text
