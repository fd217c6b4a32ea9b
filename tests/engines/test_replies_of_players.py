"""Replies of a real model in every mode: stored exactly, legal where they must be, well recovered."""

import pytest
from numbered import said
from plainly import all_logits, check_reply, shares

from stratagem.games.catalogue import game_names, make_game
from stratagem.games.key import Key
from stratagem.language.engines.base import PLAIN, PolicyNode, Sampling, ScoreRequest
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.base import Ask
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker

MODES = {
    "direct": ("direct", "negotiation-v2", "plain", PLAIN),
    "direct, cold": ("direct", "tic-tac-toe", "plain", Sampling(0.3)),
    "free": ("free", "kuhn", "plain", PLAIN),
    "free, cut": ("free", "kuhn", "plain", Sampling(1.3, top_k=20, top_p=0.9)),
    "recover": ("recover", "negotiation-v2", "plain", Sampling(0.8)),
    "constrained": ("constrained", "nim", "reasoned", PLAIN),
    "constrained by brackets": ("constrained", "negotiation-v1", "gtbench-reasoned", Sampling(0.9)),
    "single": ("single", "ipd-shapellm", "shapellm-state", Sampling(0.6)),
}


def player(engine, mode, style="plain", sampling=PLAIN, max_new_tokens=12, adapter=""):
    speaker = Speaker(
        engine=engine, style=make_style(style), sampling=sampling, max_new_tokens=max_new_tokens, adapter=adapter
    )
    return ModelPlayer(name="model", speaker=speaker, mode=mode)


def views(game, number):
    """Situations of random play."""
    made, found = make_game(game), []
    for episode in range(99):
        state = made.start(Key(episode))
        for move in range(4):
            if state.over or len(found) >= number:
                break
            found.append(state.view(state.to_act[0]))
            state.play({s: state.view(s).choices.sample(Key(episode).at(move, s)) for s in state.to_act})
    return found[:number]


def moves(who, seen):
    """The moves in many situations, their requests answered in batches, as the scheduler does it."""
    turns = {number: who.turn(Ask(view, Key(number), 0, number, 0, None)) for number, view in enumerate(seen)}
    open_, done = {number: next(turn) for number, turn in turns.items()}, {}
    while open_:
        calls = who.speaker.engine.answer(list(open_.values()))
        for (number, _), call in zip(list(open_.items()), calls, strict=True):
            try:
                open_[number] = turns[number].send(call)
            except StopIteration as stop:
                done[number] = stop.value
                del open_[number]
    return [done[number] for number in range(len(seen))]


@pytest.mark.parametrize("name", MODES)
def test_all_that_is_stored_can_be_computed_again(tiny, name):
    mode, game, style, sampling = MODES[name]
    engine, seen, kinds = TransformersEngine(tiny), views(game, 5), set()
    who = player(engine, mode, style, sampling)
    for view, move in zip(seen, moves(who, seen), strict=True):
        assert move.action in view.choices or (move.action is None and mode in ("free", "single"))
        told = make_style(style).messages(view)
        for number, call in enumerate(move.calls):
            kinds |= {(number, kind) for kind in check_reply(tiny, call)}
            assert call.prompt.messages[: len(told)] == tuple(told)
    expected = {"recover": {(0, "sampled"), (1, "argmax")}, "single": {(0, "sampled")}, "free": {(0, "sampled")}}
    assert expected.get(mode, {(0, "sampled"), (0, "forced")}) <= kinds
    assert kinds <= {(0, "sampled"), (0, "forced"), (1, "argmax"), (1, "forced")}


@pytest.mark.parametrize("mode", ["direct", "recover", "constrained"])
def test_moves_are_the_same_one_by_one(tiny, mode):
    who = player(TransformersEngine(tiny), mode, "reasoned")
    seen = views("negotiation-v2", 6)
    together = moves(who, seen)
    apart = [moves(player(TransformersEngine(tiny), mode, "reasoned"), [view])[0] for view in seen[:1]]
    assert [said(call) for call in together[0].calls] == [said(call) for call in apart[0].calls]


@pytest.mark.parametrize("name", [name for name in game_names() if name != "matrix"])
def test_every_game_can_be_played_directly(tiny_player, name):
    seen = views(name, 3)
    for view, move in zip(seen, moves(tiny_player, seen), strict=True):
        assert move.action in view.choices
        assert view.choices.parse(move.calls[0].text).action == move.action


@pytest.fixture(scope="module")
def tiny_player(models):
    return player(TransformersEngine(models["tiny"]), "direct")


def test_recovery_takes_the_likeliest_at_each_fork_of_the_trie(tiny):
    who = player(TransformersEngine(tiny), "recover", max_new_tokens=3)
    for game in ("negotiation-v1", "negotiation-v2"):
        for view, move in zip(views(game, 1), moves(who, views(game, 1)), strict=True):
            if len(move.calls) < 2:
                continue
            prompt = move.calls[1].prompt
            cursor = who.speaker.compiler.walker(view.choices, prompt).start()
            while not cursor.done:
                logits = all_logits(tiny, (*prompt.tokens, *cursor.tokens))[-1]
                cursor.advance(max(cursor.allowed, key=lambda token: logits[token]))
            assert (move.action, move.how) == (cursor.action, "recovered")


def test_where_the_first_tokens_tell_actions_apart_recovery_is_the_arg_max_of_the_exact_policy(tiny):
    who = player(TransformersEngine(tiny), "recover", max_new_tokens=3)
    seen, recovered = views("kuhn", 8), 0
    for view, move in zip(seen, moves(who, seen), strict=True):
        if move.how != "recovered":
            continue
        prompt = move.calls[1].prompt
        first = who.speaker.compiler.walker(view.choices, prompt).start().allowed
        assert len(first) == view.choices.count
        ((row,),) = who.speaker.engine.score([ScoreRequest(prompt=prompt, nodes=(PolicyNode((), first, True),))])
        assert move.calls[1].tokens[0] == first[row.index(max(row))]
        recovered += 1
    assert recovered > 5


def test_recovery_goes_on_from_the_computation_of_the_reply(tiny):
    engine = TransformersEngine(tiny)
    who = player(engine, "recover", max_new_tokens=40)
    turn = who.turn(Ask(views("kuhn", 1)[0], Key(3), 0, 0, 0, None))
    (call,) = engine.answer([next(turn)])
    request, before = turn.send(call), engine.reader.num_tokens
    engine.answer([request])
    said_already = len(call.prompt.tokens) + len([token for token in call.tokens if token not in engine.ends])
    assert request.prompt.tokens[:said_already] == (*call.prompt.tokens, *call.tokens)[:said_already]
    new = engine.reader.num_tokens - before
    assert new <= len(request.prompt.tokens) - said_already + len("BET")


def test_the_likeliest_of_a_whole_vocabulary_by_hand(tiny):
    """Mode single, at temperature 0, says what the plain pass finds likeliest."""
    who = player(TransformersEngine(tiny), "single", "shapellm-state", Sampling(0.0))
    seen = views("ipd-shapellm", 3)
    for move in moves(who, seen):
        (call,) = move.calls
        chances = shares(all_logits(tiny, call.prompt.tokens)[-1].numpy(), Sampling(0.0))
        assert chances[call.tokens[0]] == 1.0
