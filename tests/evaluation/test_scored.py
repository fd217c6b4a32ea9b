"""Bounds by log-probabilities, against exact figures, random completions and servers with known probabilities."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

import stratagem as sg
from stratagem.base.errors import CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.games.choices import Flat
from stratagem.games.key import Key
from stratagem.language.engines.base import Alternative
from stratagem.measure.exploitability.exact import exact, of_policy
from stratagem.measure.exploitability.scored import of_scored, scored_exact
from stratagem.measure.tree_policy import oracle_of, policy_on
from stratagem.players.base import ScoredActions
from stratagem.players.catalogue import make_player
from stratagem.players.opening import Openings, ReplyTree
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

sys.path.insert(0, str(Path(__file__).parents[1] / "engines" / "remote"))
from fake_server import FakeServer

KUHN = make_game("kuhn(hands=1)")
SHARES = {"PASS": {"PASS": 0.7, "BET": 0.25}, "FOLD": {"FOLD": 0.6, "CALL": 0.3}}
"""Probabilities of two tokens in both kinds of situations of Kuhn poker; the rest belongs to tokens that begin none."""


def position(token, others):
    """A token of `logprobs.content`."""
    rows = [{"token": text, "logprob": math.log(p)} for text, p in others.items()]
    return {"token": token, "logprob": math.log(others[token]), "top_logprobs": rows}


def answer(text, positions, ended="stop"):
    return {
        "choices": [{"message": {"content": text}, "finish_reason": ended, "logprobs": {"content": positions}}],
        "usage": {"prompt_tokens": 7, "completion_tokens": len(positions)},
    }


def kuhn(exchange):
    """Answer with one token of the known distribution."""
    shares = SHARES["FOLD" if "FOLD, CALL" in exchange.body["messages"][-1]["content"] else "PASS"]
    token = next(iter(shares))
    exchange.send(200, answer(token, [position(token, shares)] if exchange.body.get("logprobs") else []))


def player_at(server, options=""):
    return make_player(f"lm(api:m@{server.url}, mode=prefix{options})", KUHN)


def test_shares_are_those_of_the_server_and_the_rest_is_unseen():
    with FakeServer(kuhn) as server:
        player = player_at(server)
        view = KUHN.start(Key(0)).view(0)
        ((mix, unseen),) = player.scored([view])
        assert mix == pytest.approx(SHARES["PASS"])
        assert unseen == pytest.approx(0.05)
        assert len(server.asked) == 1, "the first token decides, so one reply is enough"
        assert (server.asked[0]["logprobs"], server.asked[0]["top_logprobs"]) == (True, 20)
        assert player.traits.scored
        assert not player.traits.exact
        with pytest.raises(CannotCompute):
            player.policy(view)


def test_bounds_hold_whatever_the_unseen_part_is():
    """The exploitability of 200 completions at random, and of the extreme ones, is between the bounds."""
    with FakeServer(kuhn) as server:
        result = scored_exact(KUHN, player_at(server))
    assert result.basis.unseen == pytest.approx(0.1)
    oracle = oracle_of(KUHN)
    sets = oracle.tree.information_sets
    known = [next(row for row in SHARES.values() if set(row) == set(one.actions)) for one in sets]
    generator = np.random.default_rng(0)
    found = []
    for number in range(200):
        policy = []
        for one, shares in zip(sets, known, strict=True):
            rest = 1.0 - sum(shares.values())
            first = float(number % 2) if number < 20 else generator.random()
            q = dict(zip(one.actions, (first, 1.0 - first), strict=True))
            policy += [shares[action] + rest * q[action] for action in one.actions]
        found.append(of_policy(oracle, np.array(policy)).exploitability)
    low, high = result.estimate.low, result.estimate.high
    assert low <= min(found) < max(found) <= high
    assert high - low < 20 * (max(found) - min(found)), "bounds of some use"


def test_nothing_unseen_is_the_exact_figure_and_little_unseen_changes_little():
    oracle = oracle_of(KUHN)
    player = make_player("TightPassive", KUHN)
    views = {(one.seat, one.view.info_key): one.view for one in oracle.tree.information_sets}
    told = {key: ScoredActions(player.policy(view), 0.0) for key, view in views.items()}
    result, truth = of_scored(oracle, told), exact(KUHN, player)
    assert result.estimate.low == result.estimate.high == pytest.approx(truth.exploitability)
    assert result.gains == pytest.approx(truth.gains)
    blurred = {key: ScoredActions({a: p * 0.999 for a, p in mix.items()}, 0.001) for key, (mix, _) in told.items()}
    near = of_scored(oracle, blurred)
    assert near.exploitability == pytest.approx(truth.exploitability)
    assert 0.0 < near.basis.error < 4 * 2 * 0.001, "the range of payoffs, at most two decisions of the others"
    assert near.basis.error == pytest.approx(sum(_by_hand(oracle, seat) for seat in (0, 1)) / 2)


def _by_hand(oracle, seat):
    """The range times the largest expected number of decisions of the other seat, times .001, by enumeration."""
    tree = oracle.tree
    policy = policy_on(tree, make_player("TightPassive", KUHN))
    best = 0.0
    own = [number for number, one in enumerate(tree.information_sets) if one.seat == seat]
    for code in range(2 ** len(own)):
        plan = policy.copy()
        for bit, number in enumerate(own):
            first = tree.slots[number]
            plan[first : first + 2] = (1.0, 0.0) if code >> bit & 1 else (0.0, 1.0)
        best = max(best, float(tree.reach(plan)[tree.mover == 1 - seat].sum()))
    return 4.0 * best * 0.001


@pytest.mark.parametrize("name", ["NashApprox", pytest.param("tiny", marks=pytest.mark.long)])
def test_a_served_player_is_scored_as_it_states_itself(name):
    """`stratagem serve` tells a decision's probabilities in the place of tokens."""
    with sg.serve([name], KUHN, port=0) as server:
        result = scored_exact(KUHN, make_player(f"lm(api:{name}@{server.url}, mode=prefix)", KUHN))
    truth = exact(KUHN, make_player(name, KUHN))
    assert result.basis.unseen < 1e-5
    assert result.gains == pytest.approx(truth.gains, abs=1e-5)
    assert result.estimate.low - 1e-5 <= truth.exploitability <= result.estimate.high + 1e-5


def test_noise_and_a_disguise_are_scored_around_a_scored_player():
    with sg.serve(["TightPassive"], KUHN, port=0) as server:
        text = f"lm(api:TightPassive@{server.url}, mode=prefix)"
        result = scored_exact(KUHN, make_player(f"noise({text}, p=0.2)", KUHN))
    truth = exact(KUHN, make_player("noise(TightPassive, p=0.2)", KUHN))
    assert result.exploitability == pytest.approx(truth.exploitability, abs=1e-4)
    words = {}

    def disguised(exchange):
        legal = exchange.body["messages"][-1]["content"].split("You may play: ")[1].split(".")[0].split(", ")
        words.update(dict.fromkeys(legal))
        shares = dict(zip(legal, (0.7, 0.25), strict=True))
        exchange.send(200, answer(legal[0], [position(legal[0], shares)]))

    with FakeServer(disguised) as fake:
        player = make_player(f"disguise(lm(api:m@{fake.url}, mode=prefix), seed=1)", KUHN)
        ((mix, unseen),) = player.scored([KUHN.start(Key(0)).view(0)])
    assert (set(mix), unseen) == ({"PASS", "BET"}, pytest.approx(0.05))
    assert not {"PASS", "BET"} & set(words)


def test_play_reads_the_action_that_the_reply_opens_with():
    with FakeServer(lambda exchange: exchange.say(' "Pass", since my card is low.')) as server:
        match = Match(KUHN, [player_at(server), make_player("random", KUHN)])
        rows = [row for e in play(rotate_seats(match, 4, Key(0), name="p")) for row in e.decisions if row.slot == 0]
    assert {(row.action, row.how) for row in rows} <= {("PASS", "free"), (None, "illegal")}
    assert any(row.action == "PASS" for row in rows)


@pytest.mark.parametrize(
    ("text", "action", "is_open"),
    [
        ("", None, True),
        ("  '", None, True),
        ("1", "1", True),
        ("10", "10", False),
        ("12", "1", False),
        ("B", None, True),
        ("bet!", "Bet", False),
        ("Better", "Bet", False),
        ("I bet", None, False),
        ("**10**", "10", False),
    ],
)
def test_the_longest_action_that_a_reply_opens_with(text, action, is_open):
    openings = Openings(Flat(["1", "10", "Bet"]))
    assert (openings.read(text), openings.is_open(text)) == (action, is_open)


def test_actions_of_several_tokens_are_followed_reply_by_reply():
    """Twelve tokens spell 1, 10 and 2; what ends after 1 is not told, and stays unseen."""
    tree = ReplyTree(Openings(Flat(["1", "10", "2"])))

    def row(*pairs):
        return [Alternative(text.encode(), math.log(p)) for text, p in pairs]

    tree.add([row((" ", 0.5), ("2", 0.3), ("x", 0.1))])
    assert tree.score_actions() == (pytest.approx({"2": 0.3}), pytest.approx(0.6))
    assert tree.reducible == pytest.approx(0.5)
    tree.add([row((" ", 0.5)), row(("1", 0.8), ("2", 0.2)), row(("0", 0.6), (".", 0.4))])
    mix, unseen = tree.score_actions()
    assert mix == pytest.approx({"2": 0.3 + 0.1, "10": 0.5 * 0.8 * 0.6, "1": 0.5 * 0.8 * 0.4})
    assert unseen == pytest.approx(0.1)
    assert tree.reducible == 0.0
    with pytest.raises(CannotCompute, match=r"sum to 1\.2"):
        ReplyTree(Openings(Flat(["1", "2"]))).add([row(("1", 0.9), ("2", 0.3))])


@pytest.mark.parametrize("form", ["lists", "bytes", "silent", "nonsense", "fewer"])
def test_other_forms_of_log_probabilities(form):
    def told(exchange):
        shares = SHARES["PASS"] if "FOLD, CALL" not in exchange.body["messages"][-1]["content"] else SHARES["FOLD"]
        token = next(iter(shares))
        tops = {text: math.log(p) for text, p in shares.items()}
        if form == "fewer" and exchange.body["top_logprobs"] > 5:
            return exchange.send(400, {"error": {"message": "top_logprobs must be at most 5"}})
        content = {
            "lists": {"tokens": [token], "token_logprobs": [tops[token]], "top_logprobs": [tops]},
            "bytes": {"content": [position(token, shares) | {"bytes": [*token.encode()]}]},
            "silent": None,
            "nonsense": {"content": [{"token": 3, "logprob": float("nan"), "top_logprobs": "no"}, 7]},
            "fewer": {"content": [position(token, shares)]},
        }[form]
        body = answer(token, [])
        body["choices"][0]["logprobs"] = content
        return exchange.send(200, json.dumps(body))

    with FakeServer(told) as server:
        if form in ("silent", "nonsense"):
            with pytest.raises(CannotCompute, match="tells no log-probabilities"):
                scored_exact(KUHN, player_at(server))
        else:
            assert scored_exact(KUHN, player_at(server)).basis.unseen == pytest.approx(0.1)


def test_what_cannot_be_scored_is_one_sentence():
    with FakeServer(kuhn) as server:
        with pytest.raises(CannotCompute, match="only such a player is scored"):
            scored_exact(KUHN, player_at(server, ", temperature=0.5"))
        with pytest.raises(CannotCompute, match="no scored probabilities: mode=prefix"):
            scored_exact(KUHN, make_player(f"api:m@{server.url}", KUHN))
        ipd = make_game("ipd(rounds=2)")
        with pytest.raises(CannotCompute, match="a reply that is none, so no exploitability is exact"):
            scored_exact(ipd, make_player(f"lm(api:m@{server.url}, mode=prefix)", ipd))


def test_eval_prints_and_writes_the_bounds(capsys, tmp_path, as_new_process):
    from stratagem.cli.main import main

    as_new_process()
    with FakeServer(kuhn) as server:
        words = ["eval", "kuhn(hands=1)", "--player", player_at(server).name, "--opponents", "NashApprox"]
        words += ["--episodes", "2", "--no-chance", "--record", str(tmp_path / "record")]
        with pytest.raises(SystemExit):
            main(words)
        asked = len(server.asked)
        with pytest.raises(SystemExit):
            main([*words, "--resume", "--out", str(tmp_path / "figures.json")])
        assert len(server.asked) == asked, "replies with log-probabilities are logged too"
        result = scored_exact(KUHN, player_at(server))
    figures = json.loads((tmp_path / "figures.json").read_text())["games"][0]["players"][0]
    assert figures["scored"]["unseen"] == pytest.approx(0.1)
    assert figures["scored"]["exploitability_low"] == pytest.approx(result.estimate.low)
    assert "are unseen in a situation" in " ".join(capsys.readouterr().out.split())


@pytest.mark.long
def test_intervals_of_a_model_s_tokens_hold_its_true_probabilities():
    """Tiny token by token: the server tells the 20 likeliest; the truth is a walk over its whole vocabulary."""
    import torch

    from stratagem.language.models.load import load

    lm = load("tiny")

    def logprobs(tokens):
        with torch.inference_mode():
            return torch.log_softmax(lm.model(input_ids=torch.tensor([tokens])).logits[0, -1].float() * 25, -1)

    def reply(exchange):
        tokens, said, positions = lm.chat(exchange.body["messages"]), [], []
        torch.manual_seed(exchange.body["seed"])
        while len(said) < 4:
            row = logprobs([*tokens, *said])
            drawn = int(torch.multinomial(row.exp(), 1))
            values, top = row.topk(20)
            texts = [lm.tokenizer.decode([token]) for token in (drawn, *top.tolist())]
            pairs = zip(texts, (float(row[drawn]), *values.tolist()), strict=True)
            own, *others = ({"token": text, "logprob": value} for text, value in pairs)
            positions.append(own | {"top_logprobs": others})
            said.append(drawn)
        exchange.send(200, answer(lm.tokenizer.decode(said), positions))

    openings = Openings(KUHN.start(Key(0)).view(0).choices)
    texts = [lm.tokenizer.decode([token]) for token in range(len(lm.tokenizer))]

    def walk(tokens, said, reach, truth):
        for token, p in enumerate(logprobs(tokens).exp().tolist()):
            text = said + texts[token]
            if not openings.is_open(text):
                truth[openings.read(text)] = truth.get(openings.read(text), 0.0) + reach * p
            elif reach * p > 1e-6:
                walk([*tokens, token], text, reach * p, truth)

    with FakeServer(reply) as server:
        player = player_at(server)
        view = KUHN.start(Key(0)).view(0)
        ((mix, unseen),) = player.scored([view])
        messages = [{"role": role, "content": text} for role, text in player.speaker.prompt(view).messages]
    truth = {}
    walk(lm.chat(messages), "", 1.0, truth)
    assert sum(truth.values()) == pytest.approx(1.0, abs=0.05)
    assert unseen < 0.9
    for action in ("PASS", "BET"):
        low = mix.get(action, 0.0)
        assert low - 1e-3 <= truth.get(action, 0.0) <= low + unseen + 1e-3
