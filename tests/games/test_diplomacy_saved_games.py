"""The export of a game of Diplomacy, against the engine's own validator of saved games."""

import json

import pytest
from diplomacy.utils.export import is_valid_saved_game

from stratagem.games import Key, make_game
from stratagem.games.diplomacy import Diplomacy
from stratagem.players.catalogue import make_player
from stratagem.playing.forks import replay
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play


@pytest.mark.parametrize(
    ("text", "bot", "seed"),
    [
        ("diplomacy(until=1903, judged=False)", "dumbbot", 0),
        ("diplomacy(until=1903, judged=False)", "random", 2),  # a support names a coast that the engine drops
        ("diplomacy(until=1903, judged=False, only=[FRANCE, GERMANY])", "random", 0),
        ("diplomacy(until=1912, judged=False)", "mixed", 0),  # a solo
    ],
)
def test_saved_game_is_valid_for_the_engine(text, bot, seed):
    game = make_game(text)
    names = [*(["dumbbot"] + ["random"] * 6 if bot == "mixed" else [bot] * game.spec.seats)]
    players = [make_player(name, game) for name in names]
    setup = Setup(id="e", match=Match(game, players), slots=tuple(range(len(players))), key=Key(seed))
    (episode,) = play([setup])
    saved = json.loads(dict(replay(episode).files())["game.json"])
    assert is_valid_saved_game(saved)
    broken = json.loads(json.dumps(saved))
    broken["phases"][1]["state"]["units"]["FRANCE"].append("A MOS")
    assert not is_valid_saved_game(broken)


@pytest.mark.parametrize(
    ("board", "is_drawn"),
    # of a map outside its own cache the engine enumerates the convoys, once a machine: ten seconds
    [("pure", True), pytest.param("colonial", False, marks=pytest.mark.runs)],
)
def test_pictures_are_written_only_of_a_map_that_the_engine_draws(board, is_drawn):
    state = Diplomacy(map=board, until=1901, judged=False).start(Key(0))
    state.play(dict.fromkeys(state.to_act))
    files = dict(state.files())
    pictures = [text for name, text in files.items() if name.endswith(".svg")]
    assert len(pictures) == (2 if is_drawn else 0)
    assert all("<svg" in text for text in pictures)
    assert is_valid_saved_game(json.loads(files["game.json"]))


def test_saved_game_keeps_a_support_that_was_void_for_its_coast():
    """The engine's reader drops the coast, by which the support would succeed: France would take Spain."""
    france, italy = (Diplomacy().powers.index(name) for name in ("FRANCE", "ITALY"))
    script = {
        "S1901M": {france: "F BRE - MAO\nA MAR - SPA\nA PAR H", italy: "F NAP - TYS\nA ROM H\nA VEN H"},
        "F1901M": {france: "F MAO H\nA SPA - POR\nA PAR H", italy: "F TYS - WES\nA ROM H\nA VEN H"},
        "W1901A": {france: "F MAR B"},
        "S1902M": {france: "F MAR - LYO\nF MAO H\nA POR H\nA PAR H"},
        "F1902M": {
            france: "F MAO - SPA/NC\nF LYO S F MAO - SPA/SC\nA POR H\nA PAR H",
            italy: "F WES - SPA/SC\nA ROM H\nA VEN H",
        },
    }
    state = Diplomacy(until=1902, judged=False).start(Key(0))
    while not state.over:
        told, view = script.get(state.board.phase, {}), state.view
        state.play({s: view(s).choices.canonical(told[s].split("\n")) if s in told else None for s in state.to_act})
    assert ("FRANCE", "F LYO S F MAO - SPA/SC", ("void",)) in dict(state.log)["F1902M"]
    saved = json.loads(dict(state.files())["game.json"])
    (fall,) = (phase for phase in saved["phases"] if phase["name"] == "F1902M")
    assert "F LYO H" in fall["orders"]["FRANCE"]
    assert fall["results"]["F LYO"] == ["void"]
    assert is_valid_saved_game(saved)
