"""Branches at messages: the enumerated policy gradient, and messages without an effect."""

from dataclasses import dataclass

import numpy as np
import pytest

from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.talk import MOVE, SILENT
from stratagem.learn.advantages.catalogue import read_advantage
from stratagem.players.base import Ask, Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.forks import replay
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups
from stratagem.training.message_branches import check_messages, messages_of, play_branches
from stratagem.training.rollouts import decision_columns, round_payoffs, select_decisions

STAG = "talk(ish(rounds=1), who=[0], intents=[move])"


@dataclass(frozen=True)
class Says:
    """Says one message, another one where its draws are redrawn, and moves by `move`."""

    first: str
    other: str
    table: Key
    move: str = ""
    traits = Traits()
    name = "says"

    def turn(self, ask):
        if ask.view.game.silence(ask.view.facts) is None:
            return Move(self.move)
        first = Ask(ask.view, self.table, ask.slot, ask.turn, ask.attempt, None)
        return Move(self.first if ask.key == first.key else self.other)


@dataclass(frozen=True)
class Trusts:
    """Plays what the other seat has promised, and otherwise its second action."""

    traits = Traits()
    name = "trusts"

    def turn(self, ask):
        actions = list(ask.view.choices)
        promised = [action for action in actions for m in ask.view.facts.messages if m.text.endswith(f"play {action}")]
        return Move(promised[0] if promised else actions[1])


def sender_receiver():
    """A game, its reader, the lines of the speaker, and the keys of its three deals with the lines' returns."""
    game = make_game("sender-receiver(states=3, bias=1)")
    keys = {}
    for number in range(60):
        keys.setdefault(game.start(Key(number).at("chance")).drawn, Key(number))
    return game, make_player("Honest", game), list(game.choices_of(0)), [keys[state] for state in range(3)], ""


def stag():
    game = make_game(STAG)
    view = game.start(Key(0)).view(0)
    return game, Trusts(), list(view.choices), [Key(5)], next(iter(game.game.start(Key(0)).view(0).choices))


def setup_of(game, speaker, reader, name="e"):
    return Setup(id=name, match=Match(game, [speaker, reader]), slots=(0, 1), key=speaker.table)


def estimated(game, reader, lines, keys, move, policy, instead):
    """Return the expected gradient of the estimator over all messages and alternatives, by deal and logit."""
    pairs = [(m, o) for m in range(len(lines)) for o in range(len(lines) if instead == "alternatives" else 1)]
    gradient = np.zeros_like(policy)
    for deal, key in enumerate(keys):
        setups = [setup_of(game, Says(lines[m], lines[o], key, move), reader, f"{m}/{o}") for m, o in pairs]
        episodes, estimator = play_setups(setups), read_advantage(f"message_effect(counterfactual={instead})").value
        plays = [(setup, episode, (0,)) for setup, episode in zip(setups, episodes, strict=True)]
        branches = play_branches(estimator.columns, plays, 1)
        rows = select_decisions(episodes)
        advantage = estimator(decision_columns(rows, episodes, {"payoff": round_payoffs}, branches)).advantage
        spoken = [value for row, value in zip(rows, advantage, strict=True) if row.decision.action in lines]
        for (m, o), value in zip(pairs, spoken, strict=True):
            p = policy[deal, m] * (policy[deal, o] if instead == "alternatives" else 1.0) / len(keys)
            gradient[deal] += p * value * (np.eye(len(lines))[m] - policy[deal])
    return gradient


def enumerated(game, reader, lines, keys, move, policy):
    """Return the gradient of the expected return: `p(x) pi(m | x) (R(x, m) - sum_m pi R)` for each logit."""
    says = [[setup_of(game, Says(line, line, key, move), reader) for line in lines] for key in keys]
    returns = np.array([[play_setups([setup])[0].payoffs[0] for setup in row] for row in says])
    assert np.ptp(returns, axis=1).max() > 0.5
    return policy * (returns - (policy * returns).sum(1, keepdims=True)) / len(keys)


@pytest.mark.parametrize("instead", ["silence", "alternatives"])
@pytest.mark.parametrize("scene", [sender_receiver, stag])
def test_message_effect_has_the_enumerated_policy_gradient(scene, instead):
    game, reader, lines, keys, move = scene()
    logits = np.random.default_rng(3).normal(size=(len(keys), len(lines)))
    policy = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    exact = enumerated(game, reader, lines, keys, move, policy)
    found = estimated(game, reader, lines, keys, move, policy, instead)
    assert np.abs(found - exact).max() < 1e-6
    assert np.abs(exact).max() > 0.01


def branched(game, players, columns=frozenset({"silenced", "redrawn"}), episodes=12):
    """Play episodes and their branches; return all with the setups."""
    match = Match(game, [make_player(name, game) for name in players])
    setups = [Setup(id=f"e{number}", match=match, slots=(0, 1), key=Key(number)) for number in range(episodes)]
    finished = play_setups(setups)
    plays = [(setup, episode, (0,)) for setup, episode in zip(setups, finished, strict=True)]
    return plays, play_branches(columns, plays, 2)


def test_message_that_nobody_hears_has_no_effect():
    """Players that mix draw the same in a branch, so even their luck is the same."""
    game = make_game("talk(kuhn(hands=2), before=round)")
    plays, branches = branched(game, ["babbler(NashApprox)", "NashApprox"])
    assert len(branches.episodes) > 24
    for episode in branches.episodes.values():
        parent = next(played for _, played, _ in plays if played.id == episode.parent)
        own, same = (
            [row.action for row in rows.decisions if row.turn >= episode.forked_at and " talk " not in row.state_key]
            for rows in (episode, parent)
        )
        assert own == same


def test_branch_says_something_else_at_the_same_turn():
    game = make_game("talk(kuhn(hands=1), before=round)")
    plays, branches = branched(game, ["babbler(NashApprox)", "NashApprox"])
    others = set()
    for setup, episode, _ in plays:
        (message,) = messages_of(setup, episode, (0,))
        assert message.view.facts.exchange != MOVE
        for name, setups in branches.of[id(message.decision)].items():
            for branch in setups:
                said = next(row for row in branches.episodes[branch.id].decisions if row.seat == 0)
                assert said.turn == message.decision.turn
                others.add((name, said.action == message.decision.action))
                assert name != "silenced" or said.action == SILENT
    assert others >= {("silenced", False), ("redrawn", True), ("redrawn", False)}


def test_branches_replay_from_the_record():
    """A branch is a fork of its episode, so it is reached again from the record."""
    plays, branches = branched(make_game("talk(kuhn(hands=2), before=round)"), ["babbler(NashApprox)", "NashApprox"])
    parents = {episode.id: episode for _, episode, _ in plays}
    for episode in branches.episodes.values():
        assert replay(episode, parents=parents).over


def test_silence_has_no_effect_in_any_round():
    """Its own branch is itself from its round on; the payoff before the round is no effect of it."""
    game = make_game("talk(ish(rounds=3), who=[0], intents=[move])")
    _, move = game.game.start(Key(0)).view(0).choices
    setup = setup_of(game, Says(SILENT, SILENT, Key(5), move), Trusts())
    (episode,), estimator = play_setups([setup]), read_advantage("message_effect").value
    rows = select_decisions([episode])
    branches = play_branches(estimator.columns, [(setup, episode, (0,))], 1)
    assert branches.episodes == {}
    columns = decision_columns(rows, [episode], {"payoff": round_payoffs}, branches)
    silent = np.array([row.decision.action == SILENT for row in rows])
    assert silent.sum() == 3
    assert np.all(columns.terms["payoff"][silent] != 0.0), "the payoff of each round would show"
    assert estimator(columns).advantage[silent].tolist() == [0.0] * 3


def test_estimator_of_messages_needs_a_game_with_messages():
    advantage = read_advantage("message_effect")
    check_messages(advantage, make_game(STAG))
    check_messages(advantage, make_game("sender-receiver"))
    check_messages(read_advantage("group_mean"), make_game("kuhn"))
    with pytest.raises(BadParameter, match="kuhn has none: put talk"):
        check_messages(advantage, make_game("kuhn"))
    with pytest.raises(BadParameter, match="'silence' or 'alternatives'"):
        read_advantage("message_effect(counterfactual=negation)")
