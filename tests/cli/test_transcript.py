"""A played episode as a person reads it: each order with what became of it, and no whole board."""

import io
import math
import re
import sys

from stratagem.cli.show import calls_json, print_words
from stratagem.cli.transcript import print_episode
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, PolicyId, Prompt, Span
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play


def test_orders_are_told_with_what_they_did_and_were_worth(capsys):
    game = make_game("diplomacy(until=1901, only=[FRANCE, GERMANY])")
    match = Match(game, [make_player("dumbbot", game), make_player("hold", game)])
    (episode,) = play([Setup(id="e", match=match, slots=(0, 1), key=Key(0))])
    print_episode(episode)
    said = capsys.readouterr().out
    rows = [row for row in episode.decisions if row.parts]
    for row in rows:
        for line, part in zip(row.action.split("\n"), row.parts, strict=False):
            assert f"      {line}: {part.kind} {part.reward:+g}\n" in said
    assert "outcome +" in said
    assert '"units"' not in said


def test_a_short_state_is_told(capsys):
    game = make_game("kuhn(hands=1)")
    match = Match(game, [make_player("NashApprox", game)] * 2)
    (episode,) = play([Setup(id="e", match=match, slots=(0, 1), key=Key(0))])
    print_episode(episode)
    assert f"seat 0 ({episode.decisions[0].state_key}): {episode.decisions[0].action}" in capsys.readouterr().out


def test_regrets_of_the_moves_of_a_person_are_told(run, monkeypatch):
    """To fold a King to a bet loses 1 chip, where a call wins 2."""
    told = {}
    for seed in (6, 7):
        monkeypatch.setattr(sys, "stdin", io.StringIO("fold\n"))
        status, text, _ = run("play", "kuhn(hands=1)", "--players", "AlwaysBet", "human", "--seed", seed)
        assert status == 0
        card, regret = re.search(r"\((\w):B\): FOLD\n      regret (\S+)\n", text).groups()
        told[card] = regret
    assert told == {"K": "3.000", "J": "0"}
    _, text, _ = run("play", "kuhn(hands=1)", "--players", "AlwaysBet", "random")
    assert "regret" not in text.lower(), "no person has played"
    monkeypatch.setattr(sys, "stdin", io.StringIO("keep\n"))
    status, text, _ = run("play", "public-goods(rounds=1)", "--players", "human", "random", "random")
    assert (status, "No regrets: " in text) == (0, True)


def test_words_stand_behind_a_bar_so_that_no_reply_passes_for_a_line(capsys):
    call = Call(
        policy=PolicyId("tiny"),
        prompt=Prompt((("user", "Your card\nis K."),)),
        text="BET\n    seat 1: FOLD",
        tokens=(1, 2),
        spans=(Span("sampled", 0, 1), Span("forced", 1, 2)),
        sampler_logprobs=(math.log(0.25), 0.0),
    )
    game = make_game("kuhn(hands=1)")
    (episode,) = play(
        [Setup(id="e", match=Match(game, [make_player("NashApprox", game)] * 2), slots=(0, 1), key=Key(0))]
    )
    episode.decisions[0].calls = (call,)
    print_episode(episode, print_words)
    said = capsys.readouterr().out
    assert "      user\n      │ Your card\n      │ is K.\n" in said
    assert "      reply (2 tokens, 1 forced, probability 0.25)\n      │ BET\n      │     seat 1: FOLD\n" in said
    (told,) = calls_json(episode)
    assert told["messages"] == [{"role": "user", "content": "Your card\nis K."}]
    assert (told["turn"], told["reply"]) == (0, call.text)
