"""A model is told what its seat remembers, in every mode, and plays by its own labels where a game has them by seat."""

from dataclasses import dataclass

import pytest
from ventriloquist import Ventriloquist, player_of

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.matrix.players import TitForTat
from stratagem.language.engines.base import Sampling
from stratagem.language.engines.open import engine_of
from stratagem.language.prompting.catalogue import make_style
from stratagem.language.prompting.past import NOTHING, Past
from stratagem.language.prompting.shapellm import ShapeLLM
from stratagem.players.base import Ask, Move
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker
from stratagem.players.wrappers import Delayed, Noisy
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play

PAST = Past({("C", "D"): 2, ("D", "D"): 1}, ("D", "D"), 4)
GAME = make_game("ipd-shapellm(rounds=6)")
AFTER = "C/C 0, C/D 2, D/C 0, D/D 0.\nLast round you played D, they played D."


@dataclass(frozen=True)
class Marked(ShapeLLM):
    """The same words for a mode that needs a mark."""

    mark = "Action:"


def table(player, pasts=(), game=GAME):
    match = Match(game, [player, TitForTat()])
    (episode,) = play([Setup(id="x", match=match, slots=(0, 1), key=Key(1), pasts=pasts)])
    return episode


@pytest.mark.parametrize(
    ("mode", "line", "options"),
    [
        ("free", "C", {}),
        ("free", "C", {"masks": False}),
        ("recover", "perhaps", {}),
        ("constrained", "so Action: C", {}),
        ("direct", "C", {}),
        ("single", "C", {}),
    ],
)
def test_every_mode_tells_the_model_what_the_seat_remembers(mode, line, options):
    engine = Ventriloquist([line] * 99, **options)
    speaker = Speaker(engine=engine, style=Marked(shows="occurrence"))
    episode = table(ModelPlayer(name="x", speaker=speaker, mode=mode), (PAST, NOTHING))
    assert not any(row.how == "error" for row in episode.decisions)
    first = engine.requests[0].prompt.messages[0][1]
    assert AFTER in first
    told = {request.prompt.messages[0][1] for request in engine.requests if AFTER in request.prompt.messages[0][1]}
    assert told == {first}
    assert len(engine.requests) == 6 * (1 + (mode == "recover"))


def test_a_player_that_carries_nothing_begins_with_the_rules():
    engine = Ventriloquist(["C"] * 99)
    table(player_of(engine, "single", "shapellm-occurrence"))
    assert "ast round" not in engine.requests[0].prompt.messages[0][1]


def test_players_around_players_hand_on_what_is_remembered():
    heard = []

    class Hearing(TitForTat):
        def turn(self, ask):
            heard.append(ask.past)
            return Move("C")

    for player in (Noisy(Hearing(), p=0.5), Delayed(Hearing())):
        table(player, (PAST, NOTHING))
    assert heard == [PAST] * 12


@pytest.mark.parametrize("mode", ["direct", "single"])
def test_stated_policies_go_by_what_is_remembered(mode):
    speaker = Speaker(engine=engine_of("tiny"), style=make_style("shapellm-occurrence"), sampling=Sampling(1.0))
    player = ModelPlayer(name="x", speaker=speaker, mode=mode)
    state = GAME.start(Key(0))
    fresh = state.view(0)
    for actions in ("CD", "CD", "DD"):
        state.play(dict(enumerate(actions)))
    (remembering,) = player.policies([fresh], PAST)
    assert remembering == player.policy(state.view(0))
    assert remembering != player.policy(fresh)


def test_an_ask_carries_nothing_unless_it_is_told():
    view = GAME.start(Key(0)).view(0)
    ask = Ask(view, Key(1), 0, 0, 0, None)
    assert ask.past is NOTHING
    assert Ask(view, Key(1), 0, 0, 0, None, PAST).seeing(view).past is PAST


def test_labels_by_seat_leave_choices_replies_and_records_as_the_game_has_them():
    game = make_game("icg(labels=[S,G], labels_second=[N,M], rounds=3)")
    first = Ventriloquist(["S", "G", "N"])
    second = Ventriloquist(["M", "N", "N"])
    players = [player_of(engine, "single", "shapellm-state(own_labels=True)") for engine in (first, second)]
    (episode,) = play([Setup(id="x", match=Match(game, players), slots=(0, 1), key=Key(1))])
    assert [row.action for row in episode.decisions] == ["S", "M", "G", "N", None, "N"]
    assert [row.state_key for row in episode.decisions] == ["start", "start", "S/M", "M/S", "G/N", "N/G"]
    assert episode.rounds == [(1.0, 3.0), (3.0, 1.0), (-6.0, 0.0)]
    seen = [[request.prompt.messages[0][1] for request in engine.requests] for engine in (first, second)]
    assert "Last round you played S, they played G." in seen[0][1]
    assert "Last round you played M, they played N." in seen[1][1]
    for prompts, strange in zip(seen, ("NM", "SG"), strict=True):
        assert not any(f" {label}{end}" in prompt for prompt in prompts for label in strange for end in " ,.")
