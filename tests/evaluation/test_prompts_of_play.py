"""Prompts behind exact figures: they are prompts that play of the same game produces, and the digest says so."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from stratagem.api.evaluations import evaluate
from stratagem.base.errors import StratagemError
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.prompting.catalogue import make_style, style_names
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.exploitability.replies import sampled_exploitability
from stratagem.measure.exploitability.scored import scored_exact
from stratagem.measure.matchups import Evaluator
from stratagem.measure.prompts import AskedOnce, digest_of, prompts_of
from stratagem.measure.sampled.asking import ReplyAsker
from stratagem.measure.sampled.questions import questions_of
from stratagem.measure.tree_policy import oracle_of, policies_on, views_of
from stratagem.players.base import Ask, Move, ScoredActions, Scripted, Traits
from stratagem.players.catalogue import make_player
from stratagem.players.disguised import disguise_player
from stratagem.training.evaluation import save_policies

GAMES = ["kuhn", "kuhn(hands=1)", "kuhn(hands=3)", "kuhn-spiel", "ipd(rounds=2)", "prisoners-dilemma"]
GAMES += [f"talk({hands}, before=round, intents=[], words=[yes])" for hands in ("kuhn", "kuhn(hands=1), order=in turn")]
GAMES += ["auction(rounds=1)", "sender-receiver", "public-goods(rounds=1)"]


@dataclass(frozen=True)
class Reader(Scripted[Any]):
    """Player that reads a prompt in a style, and plays at random."""

    style: str = "plain"
    asked: tuple[set, ...] = (set(),)

    @property
    def traits(self) -> Traits:
        return Traits(stochastic=True, memory=make_style(self.style).memory, reads_words=True, scored=True)

    def prompts_in(self, views):
        return [tuple((m.role, m.content) for m in make_style(self.style).messages(view)) for view in views]

    def strategy(self, view):
        self.asked[0].update(self.prompts_in([view]))
        return dict.fromkeys(view.choices, 1.0 / view.choices.count)

    def scored(self, views: Sequence[Any], ask: Any = None) -> list[ScoredActions]:
        return [ScoredActions(self.strategy(view), 0.0) for view in views]


def reader(style="plain"):
    return Reader(style=style, asked=(set(),))


class RandomPlay:
    """Views that random play meets, each once, as far as it has gone; every style reads the same ones."""

    def __init__(self, game, episodes=6_000):
        self.views = []
        self._further = self._play(game, episodes)

    def _play(self, game, episodes):
        met = set()
        for number in range(episodes):
            key = Key(8).at(number)
            state, turn = game.start(key.at("chance")), 0
            while not state.over:
                views = [state.view(seat) for seat in state.to_act]
                new = [view for view in views if (view.seat, view.facts) not in met]
                met.update((view.seat, view.facts) for view in new)
                yield from new
                state.play({view.seat: view.choices.sample(key.at("move", turn, view.seat)) for view in views})
                turn += 1

    def prompts(self, style, asked):
        """Prompts of random play, until it has met all that were asked."""
        player = reader(style)
        met = set(player.prompts_in(self.views))
        while not asked <= met and (view := next(self._further, None)):
            self.views.append(view)
            met.update(player.prompts_in([view]))
        return met


def readable(game, style):
    state = game.start(Key(0))
    try:
        reader(style).prompts_in([state.view(seat) for seat in state.to_act])
    except StratagemError:
        return False
    return True


@pytest.mark.parametrize("text", GAMES)
def test_exact_figures_ask_in_prompts_of_play_in_every_style(text):
    game = make_game(text)
    styles = [style for style in style_names() if readable(game, style)]
    assert "plain" in styles
    play = RandomPlay(game)
    for style in styles:
        player = reader(style)
        figure = exact(game, player, budget=100_000)
        (asked,) = player.asked
        assert figure.prompts == digest_of(asked)
        assert asked <= play.prompts(style, asked), (text, style)


def test_a_shorter_game_has_other_prompts_than_play():
    long, short = (exact(make_game(text), reader()).prompts for text in ("kuhn", "kuhn(hands=1)"))
    assert long.num == short.num == 12
    assert long.digest != short.digest


@pytest.mark.parametrize("mode", ["mode=direct", "mode=free, max_new_tokens=2"])
def test_a_model_is_played_and_measured_in_the_same_prompts(mode):
    game = make_game("kuhn")
    player = make_player(f"lm(tiny, {mode})", game)
    stated = make_player("tiny", game)
    matchup = Evaluator(episodes=60, key=Key(1)).matchup(game, player, make_player("random", game), ())
    played = {call.prompt.messages for e in matchup.episodes for row in e.decisions for call in row.calls}
    assert exact(game, stated).prompts == digest_of(played)


def test_all_figures_of_an_evaluation_name_their_prompts():
    (row, _) = evaluate("kuhn", ["tiny"], opponents=["random"], episodes=2).results[0].rows
    assert row.exploitability.prompts.num == 12
    (matchup,) = row.matchups
    assert matchup.prompts == row.exploitability.prompts


def test_figures_of_replies_and_scores_name_their_prompts():
    game, player = make_game("kuhn"), reader()
    views = [view for kind in views_of(oracle_of(game).tree) for view in kind.values()]
    known = prompts_of(player, views)
    assert sampled_exploitability(game, player, Key(0), 4).prompts == known
    assert scored_exact(game, player).prompts == known
    assert sampled_exploitability(game, make_player("random", game), Key(0), 4).prompts is None


def test_a_disguised_player_is_asked_in_the_words_of_its_disguise():
    game = make_game("kuhn")
    plain, other = reader(), disguise_player(reader(), seed=3)
    assert exact(game, plain).prompts.num == exact(game, other).prompts.num == 12
    assert exact(game, plain).prompts.digest != exact(game, other).prompts.digest


def test_a_model_is_asked_once_in_each_prompt():
    game = make_game("kuhn")
    (views, others) = views_of(oracle_of(game).tree)
    asked = []

    class Counting(Reader):
        def policies(self, views):
            asked.extend(views)
            return [self.policy(view) for view in views]

    once = AskedOnce(Counting(asked=(set(),)))
    assert once.policies(list(views.values())) == once.policies(list(others.values()))
    assert len(asked) == 12
    assert once.prompts.num == 12


@dataclass(frozen=True)
class FirstHands(Scripted[Any]):
    """Folds to each bet at seat 0, and calls each at seat 1; passes otherwise."""

    traits = Traits()

    def strategy(self, view):
        return ("FOLD" if view.seat == 0 else "CALL") if view.facts.facing_bet else "PASS"


@dataclass(frozen=True)
class Folds(Scripted[Any]):
    """Folds, or calls, each bet."""

    traits = Traits()
    answer: str = "FOLD"

    def strategy(self, view):
        return self.answer if view.facts.facing_bet else "PASS"


@pytest.mark.parametrize(("hands", "share"), [(1, 1.0), (2, 0.5), (3, 2 / 3), (6, 0.5)])
def test_figures_over_rounds_that_differ_are_their_means(hands, share):
    """In odd hands the seats have exchanged their parts: the opener calls, and the other seat folds."""
    game = make_game(f"kuhn(hands={hands})")
    kinds = policies_on(oracle_of(game).tree, FirstHands())
    assert [kind.share for kind in kinds] == pytest.approx([share, 1.0 - share][: len(kinds)])
    figure, fold, call = (exact(game, player) for player in (FirstHands(), Folds(), Folds("CALL")))
    # seat by seat: the opener's answer to a bet is FOLD in even hands and CALL in odd ones
    assert figure.best_responses[1] == pytest.approx(
        share * fold.best_responses[1] + (1 - share) * call.best_responses[1]
    )
    assert figure.best_responses[0] == pytest.approx(
        share * call.best_responses[0] + (1 - share) * fold.best_responses[0]
    )


def test_kinds_of_rounds_in_which_a_policy_is_the_same_are_one():
    game = make_game("kuhn(hands=3)")
    (kind,) = policies_on(oracle_of(game).tree, make_player("NashApprox", game))
    assert kind.share == pytest.approx(1.0)


def test_a_question_is_a_decision_of_play():
    """Game, seat, turn and situation of each question occur in random play of the whole game."""
    game, seen = make_game("kuhn"), []

    class Told(Scripted[Any]):
        traits = Traits(stochastic=True, memory=None, exact=False)
        name = "told"

        def strategy(self, view):
            raise AssertionError

        def turn(self, ask: Ask) -> Move:
            seen.append((ask.view.game, ask.turn, ask.view.seat, ask.view.info_key))
            return Move(ask.view.choices.sample(ask.key))

    player = Told()
    questions = questions_of(oracle_of(game).tree, player)
    ReplyAsker(player, questions, Key(5)).ask(np.full(len(questions), 10))
    asked = set(seen)
    seen.clear()
    Evaluator(episodes=4_000, key=Key(2)).matchup(game, player, Told(), ())
    assert asked <= set(seen)
    assert len({turn for _, turn, _, _ in asked}) >= 14
    assert {seat for _, _, seat, key in asked if key == "J:"} == {0, 1}


def test_saved_policies_are_those_of_play(tmp_path):
    class Run:
        path = tmp_path

    player = reader()
    save_policies(Run(), [make_game("kuhn")], 0, player)
    (asked,) = player.asked
    assert asked
    assert asked <= RandomPlay(make_game("kuhn")).prompts("plain", asked)
