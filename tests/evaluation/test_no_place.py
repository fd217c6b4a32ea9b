"""Figures depend on what was played, not on where a model lies; and a turn without a reply is no illegal one."""

import shutil

import pytest

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.load import load
from stratagem.language.models.merging import write_model
from stratagem.measure.evaluate import evaluate
from stratagem.measure.matchups import Evaluator
from stratagem.measure.metrics.base import Sample
from stratagem.measure.metrics.illegal import IllegalRate
from stratagem.measure.suites import Suite, SuiteLine
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.players.language import language_player

pytestmark = pytest.mark.runs


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The same model in two folders."""
    first = tmp_path_factory.mktemp("models") / "a"
    first.mkdir()
    write_model(load("tiny"), first)
    second = first.parent / "elsewhere" / "b, c"
    shutil.copytree(first, second)
    return first, second


def figures(folder):
    """A model's figures beside random play's, against random play and against itself."""
    player = language_player(f"dir:{folder}").name
    suite = Suite("one", "A test.", (SuiteLine("leduc", {"opponents": ("random", player)}),), ("payoff", "win rate"), 6)
    (game,) = evaluate(suite, ["random", player], Evaluator(6, Key(3), exact_budget=0))
    return list(game.differences.values()), [list(row.metrics.values()) for row in game.rows]


def test_figures_and_p_values_do_not_depend_on_a_folders_name(folders):
    first, second = map(figures, folders)
    assert first == second
    assert first[0][0].p_value < 1.0


class Silent:
    """Has no reply at every other turn, and says nothing legal at every other of the rest."""

    traits = Traits(memory=None, exact=False)
    name = "silent"

    def __init__(self):
        self.turns = 0

    def turn(self, ask):
        self.turns += 1
        if self.turns % 2:
            return Move(None, "error", said="The server did not answer.")
        return Move("FLY" if self.turns % 4 else ask.view.choices.first, "free")


def test_a_turn_without_a_reply_is_not_counted_as_illegal():
    game = make_game("ipd(rounds=4)")
    matchup = Evaluator(4, Key(0)).matchup(game, Silent(), make_player("TitForTat", game), ["opponents"])
    turns = sum(episode.num_decisions[episode.seat_of(0)] for episode in matchup.episodes)
    failed = sum(row.how == "error" for e in matchup.episodes for row in e.decisions if e.slots[row.seat] == 0)
    assert failed == turns / 2
    assert IllegalRate().measure(Sample(game, (matchup,))).mean == pytest.approx(0.5)
