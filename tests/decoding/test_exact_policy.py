"""The exact policy is what a masked sampler draws: against direct enumeration and against drawing."""

import math
import random
from collections import Counter
from itertools import permutations

import pytest
from worlds import BUILDS, NAMES, ORDERS, SMALL, TANGLED, all_walks, vocabulary

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.choices import Flat
from stratagem.language.decoding.exact import distribution, tree_of, weigh_actions
from stratagem.language.decoding.walker import Walker


def exact_policy(walker, model, temperature=1.0, most=50_000):
    """The probability of every legal action, from a model's scores."""
    tree = tree_of(walker, most)
    return weigh_actions(walker, tree, model(tree.forks) if tree.forks else (), temperature)


class FakeModel:
    """Next-token logits that follow from the prefix alone."""

    def __init__(self, seed, spread=2.0):
        self.seed, self.spread, self.batches = seed, spread, 0
        self.known = {}

    def logit(self, prefix, token):
        if (prefix, token) not in self.known:
            self.known[prefix, token] = random.Random(f"{self.seed} {prefix} {token}").gauss(0.0, self.spread)
        return self.known[prefix, token]

    def __call__(self, forks):
        self.batches += 1
        return [[self.logit(fork.prefix, token) for token in fork.allowed] for fork in forks]


def directly(walk_tokens, walker, model, temperature):
    """The probability of one walk, node by node from the start, forced tokens and all; the end token stands last."""
    cursor, chance = walker.start(), 1.0
    for token in walk_tokens:
        weights = {other: math.exp(model.logit(tuple(cursor.tokens), other) / temperature) for other in cursor.allowed}
        chance *= weights[token] / sum(weights.values())
        cursor.advance(token)
    assert cursor.done
    return cursor.action, chance


def spoken(walker):
    """The tokens of every walk, the end token included where it was said."""
    waiting = [(walker.start(), ())]
    while waiting:
        cursor, said = waiting.pop()
        if cursor.done:
            yield said
        for token in cursor.allowed:
            ahead = cursor.fork()
            ahead.advance(token)
            waiting.append((ahead, (*said, token)))


@pytest.mark.parametrize("temperature", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("choices", SMALL.values(), ids=SMALL)
def test_it_is_the_product_over_the_nodes(choices, name, temperature):
    walker, model = Walker(choices, vocabulary(name), "Move:"), FakeModel(7)
    expected = Counter()
    for said in spoken(walker):
        action, chance = directly(said, walker, model, temperature)
        expected[action] += chance
    policy = exact_policy(walker, model, temperature)
    assert list(policy) == list(choices)
    assert policy == pytest.approx(dict(expected), abs=1e-12)
    assert math.fsum(policy.values()) == pytest.approx(1.0, abs=1e-12)
    assert model.batches == (1 if choices.count > 1 else 0)


@pytest.mark.parametrize("choices", [SMALL["prefixes"], SMALL["demands"], BUILDS, TANGLED], ids=str)
def test_drawing_agrees(choices):
    walker, model, dice = Walker(choices, vocabulary("crossing")), FakeModel(3, spread=1.0), random.Random(5)
    drawn, games = Counter(), 4000
    for _ in range(games):
        cursor = walker.start()
        while not cursor.done:
            logits = [model.logit(tuple(cursor.tokens), token) / 0.8 for token in cursor.allowed]
            cursor.advance(dice.choices(cursor.allowed, [math.exp(logit) for logit in logits])[0])
        drawn[cursor.action] += 1
    for action, chance in exact_policy(walker, model, 0.8).items():
        deviation = math.sqrt(games * chance * (1 - chance)) + 1
        assert abs(drawn[action] - games * chance) < 4.5 * deviation


def test_it_is_not_the_joint_normalisation():
    """A longer way to an action costs nothing by itself, where scoring whole strings makes it pay."""
    choices = Flat(("A PAR - BUR", "A PAR - BUR VIA", "F LON H"))
    walker = Walker(choices, vocabulary("spaced"))
    policy = exact_policy(walker, lambda forks: [[-5.0] * len(fork.allowed) for fork in forks])
    assert policy == pytest.approx({"A PAR - BUR": 0.25, "A PAR - BUR VIA": 0.25, "F LON H": 0.5})


def test_the_end_token_has_its_share():
    vocab = vocabulary("spaced")
    walker = Walker(Flat(("AB", "AB!")), vocab)
    policy = exact_policy(walker, lambda forks: [[math.log(3.0) * (t == vocab.end) for t in f.allowed] for f in forks])
    assert policy == pytest.approx({"AB": 0.75, "AB!": 0.25})


def test_all_orders_of_the_lines_are_added_up():
    walker = Walker(BUILDS, vocabulary("spaced"))
    forks = tree_of(walker).forks
    assert len({fork.prefix for fork in forks}) == len(forks)
    leaves = Counter(action for action, _ in tree_of(walker).leaves)
    assert leaves == {action: len(set(permutations(action.split("\n")))) for action in BUILDS}
    assert sum(leaves.values()) == len(all_walks(walker))


def test_forks_ask_only_where_there_is_a_choice():
    assert all(len(fork.allowed) > 1 for fork in tree_of(Walker(SMALL["prefixes"], vocabulary("spaced"))).forks)
    assert exact_policy(Walker(SMALL["one"], vocabulary("spaced")), FakeModel(1)) == {"only this": 1.0}


def test_too_large_a_sheet_is_refused():
    with pytest.raises(CannotCompute, match="more than 500 nodes"):
        exact_policy(Walker(ORDERS, vocabulary("spaced")), FakeModel(1), most=500)


# --- one node


def test_temperature_at_a_node():
    assert distribution([0.0, math.log(3.0)], 2) == pytest.approx([0.25, 0.75])
    assert distribution([0.0, math.log(3.0)], 2, 0.5) == pytest.approx([0.1, 0.9])
    assert distribution([1.0, 7.0, 7.0], 3, 0.0) == [0.0, 1.0, 0.0]
    assert distribution([-1e9, -1e9 + math.log(3.0)], 2) == pytest.approx([0.25, 0.75], abs=1e-6)
    assert distribution([-math.inf, 0.0], 2) == [0.0, 1.0]


@pytest.mark.parametrize("scores", [[math.nan, 0.0], [-math.inf, -math.inf], [math.inf, 0.0], [0.0, math.nan]])
def test_scores_that_are_no_numbers_are_refused(scores):
    with pytest.raises(CannotCompute, match="must be numbers"):
        distribution(scores, 2)


@pytest.mark.parametrize("temperature", [-1.0, math.nan, math.inf])
def test_a_temperature_is_not_negative(temperature):
    with pytest.raises(BadParameter, match="temperature"):
        distribution([0.0, 0.0], 2, temperature)


def test_a_model_that_answers_short_is_a_defect():
    walker = Walker(SMALL["words"], vocabulary("spaced"))
    with pytest.raises(ValueError, match="0 rows came back"):
        exact_policy(walker, lambda forks: [])
    with pytest.raises(ValueError, match="1 scores came back"):
        exact_policy(walker, lambda forks: [[0.0] for _ in forks])
