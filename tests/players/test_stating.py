"""Stated policies of a model, against products worked out node by node from plain passes, and against play."""

import math
from collections import Counter

import pytest
import torch
from ventriloquist import first_view

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.base import Game, RoundResult, State, View
from stratagem.games.catalogue import make_game
from stratagem.games.choices import Sheet, Slot
from stratagem.games.key import Key
from stratagem.games.spec import GameSpec
from stratagem.language.engines.base import Sampling
from stratagem.language.engines.open import engine_of
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.base import Ask
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker
from stratagem.players.stating import shares_of


class OrdersState(State[int]):
    def view(self, seat):
        return View(self.game, seat, seat)

    def play(self, actions):
        self.end()
        return RoundResult((0.0, 0.0))


class Orders(Game[int]):
    """Two of three units get an order each, in any order of the lines; two of them may be waived."""

    state = OrdersState
    spec = GameSpec(name="orders", family="orders", summary="Orders.", simultaneous=True, utility="general-sum",
                    rounds=1, bounds=(0.0, 0.0), chance=False, private_information=False, symmetric=True)  # fmt: skip
    slots = Slot("a", ("A PAR H", "A PAR - BUR", "WAIVE")), Slot("b", ("F BRE H", "WAIVE")), Slot("c", ("C 1", "C 10"))
    sheet = Sheet(slots, fill=2)

    def choices(self, facts):
        return self.sheet

    def rules(self, seat):
        return "Write two lines."

    def situation(self, facts):
        return "It is spring."


def player(sampling, mode="direct", style="plain"):
    speaker = Speaker(engine=engine_of("tiny"), style=make_style(style), sampling=sampling)
    return ModelPlayer(name="tiny", speaker=speaker, mode=mode)


def next_shares(tokens, sampling, allowed=None):
    """From a plain pass: what a sampler draws the next token from, by token."""
    model = engine_of("tiny").lm.model
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([list(tokens)]), use_cache=False).logits[0, -1].double()
    able = range(len(logits)) if allowed is None else allowed
    if sampling.temperature == 0.0:
        return {max(able, key=lambda token: logits[token]): 1.0}
    weights = {token: math.exp(float(logits[token] - logits.max()) / sampling.temperature) for token in able}
    if sampling.top_k:
        weights = dict(sorted(weights.items(), key=lambda item: -item[1])[: sampling.top_k])
    total = math.fsum(weights.values())
    epsilon = 0.5 if sampling.sampler else 0.0
    return {token: (1 - epsilon) * weight / total + epsilon / len(weights) for token, weight in weights.items()}


def by_hand(who, view, sampling):
    """Follow every walk down the trie, and multiply what is drawn at each node where there is a choice."""
    prompt = who.speaker.prompt(view)
    waiting, found = [(who.speaker.compiler.walker(view.choices, prompt).start(), 1.0)], Counter()
    while waiting:
        cursor, chance = waiting.pop()
        if cursor.done:
            found[cursor.action] += chance
            continue
        allowed = cursor.allowed
        shares = {allowed[0]: 1.0}
        if len(allowed) > 1:
            shares = next_shares((*prompt.tokens, *cursor.tokens), sampling, allowed)
        for token, share in shares.items():
            ahead = cursor.fork()
            ahead.advance(token)
            waiting.append((ahead, chance * share))
    return {action: found[action] for action in view.choices}


SAMPLINGS = {"plain": Sampling(), "cold": Sampling(0.4), "top-k": Sampling(1.5, top_k=2), "likeliest": Sampling(0.0)}
SAMPLINGS["explored"] = Sampling(0.8, sampler="epsilon_uniform(epsilon=0.5)")


@pytest.mark.parametrize("sampling", SAMPLINGS.values(), ids=SAMPLINGS)
@pytest.mark.parametrize("game", ["kuhn", "negotiation-v1", Orders()], ids=["kuhn", "negotiation-v1", "sheet"])
def test_the_policy_is_the_product_over_the_nodes(game, sampling):
    who, view = player(sampling), first_view(game)
    policy = who.policy(view)
    assert list(policy) == list(view.choices)
    assert policy == pytest.approx(by_hand(who, view, sampling), abs=1e-6)
    assert math.fsum(policy.values()) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(0.6, top_p=0.9)], ids=["plain", "cut"])
@pytest.mark.parametrize("game", ["negotiation-v1", Orders()], ids=["flat", "sheet"])
def test_drawing_agrees_with_the_policy(game, sampling):
    """Pearson's statistic over a few thousand keys, against its limit at four standard deviations."""
    who, view, times = player(sampling), first_view(game), 3000 if game == "negotiation-v1" else 600
    policy, drawn = who.policy(view), Counter()
    for start in range(0, times, 64):
        turns = [who.turn(Ask(view, Key(number), 0, 0, 0, None)) for number in range(start, min(start + 64, times))]
        requests = [next(turn) for turn in turns]
        for turn, call in zip(turns, who.speaker.engine.answer(requests), strict=True):
            with pytest.raises(StopIteration) as stop:
                turn.send(call)
            drawn[stop.value.value.action] += 1
    assert set(drawn) <= {action for action, chance in policy.items() if chance > 0.0}
    likely = {action: chance * times for action, chance in policy.items() if chance * times >= 5.0}
    rare = times - math.fsum(likely.values())
    value = math.fsum((drawn[action] - count) ** 2 / count for action, count in likely.items())
    if rare > 1.0:
        value += (times - sum(drawn[action] for action in likely) - rare) ** 2 / rare
    freedom, spread = len(likely), 2.0 / (9.0 * len(likely))
    assert value < freedom * (1.0 - spread + 4.0 * math.sqrt(spread)) ** 3


@pytest.mark.parametrize("sampling", SAMPLINGS.values(), ids=SAMPLINGS)
def test_a_single_token_has_its_share_of_the_whole_vocabulary(sampling):
    who, view = player(sampling, "single", "shapellm-state"), first_view("ipd-shapellm")
    prompt = who.speaker.prompt(view)
    shares, labels = next_shares(prompt.tokens, sampling), who.speaker.compiler.labels(view.choices, prompt)
    policy = who.policy(view)
    assert policy == pytest.approx({action: shares.get(token, 0.0) for token, action in labels.items()}, abs=1e-7)
    assert set(policy) == {"C", "D"}
    assert sum(policy.values()) < 0.1


def test_many_situations_are_asked_about_at_once_and_each_prompt_is_read_once():
    game, who = make_game("kuhn"), player(Sampling())
    seen = [game.start(Key(n)).view(game.start(Key(n)).to_act[0]) for n in range(20)]
    together = who.policies(seen)
    reader = who.speaker.engine.reader
    before = reader.num_passes, reader.num_tokens
    assert [who.policy(view) for view in seen] == together
    assert (reader.num_passes, reader.num_tokens) == before
    assert len({str(policy) for policy in together}) == len({view.info_key for view in seen})
    assert who.policies([]) == []


def test_what_thinks_aloud_states_nothing():
    for mode in ("free", "recover", "constrained"):
        assert not player(Sampling(), mode, "reasoned").traits.exact
        with pytest.raises(CannotCompute, match=r"thinks before it acts.*mode=direct"):
            player(Sampling(), mode, "reasoned").policy(first_view())
    with pytest.raises(BadParameter, match="actions of one token each"):
        player(Sampling(), "single").policy(first_view("negotiation-v2"))


def test_a_prompt_beyond_the_context_states_nothing(monkeypatch):
    who = player(Sampling())
    monkeypatch.setattr(who.speaker.engine, "longest", 50)
    with pytest.raises(CannotCompute, match=r"The prompt has \d+ tokens, and tiny reads from 1 to 49"):
        who.policy(first_view())


@pytest.mark.parametrize(
    ("logprobs", "total"),
    [([-0.69314718] * 2, 1.0), ([-0.6931467, -0.6931466], 1.0), ([-0.6931473] * 2, 1.0), ([-1.0, -2.0], None)],
)
def test_a_sum_that_short_numbers_cannot_tell_from_one_is_one(logprobs, total):
    mix = shares_of(["C", "D"], logprobs)
    assert sum(mix.values()) == pytest.approx(total or math.exp(-1.0) + math.exp(-2.0), abs=1e-15)
