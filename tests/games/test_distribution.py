"""Distributions of drawn games, and the draws that are kept on disk."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stratagem.base.errors import BadParameter, CannotCompute, UnknownName
from stratagem.games.catalogue import describe, make_game
from stratagem.games.drawn import distribution, drawing, stored_draws
from stratagem.games.drawn.distribution import GameDistribution, GameStream, expand_games
from stratagem.games.drawn.drawing import draw_game, sketch
from stratagem.games.drawn.stored_draws import GameDraw
from stratagem.games.drawn.texts import write_rules
from stratagem.games.key import Key

FAST = "matrix"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path))
    draw_game.cache_clear()
    return tmp_path


def _draw(seed: int) -> GameDraw:
    draw_game.cache_clear()
    return draw_game(seed, FAST, "small")


def _refuse(*_: object) -> None:
    raise AssertionError("the search is made again")


def test_stored_draw_is_made_without_search(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _draw(3)
    assert len(list(folder.glob("draws/*.json"))) == 1
    monkeypatch.setattr(drawing, "resolve_name", lambda place: _refuse)
    assert _draw(3) == first


@pytest.mark.parametrize("damage", ["torn", "attempt", "consistent"])
def test_damaged_draw_is_drawn_anew(folder: Path, damage: str) -> None:
    first = _draw(3)
    (file,) = folder.glob("draws/*.json")
    text = file.read_text()
    data = json.loads(text)
    data["draw"]["attempt"] += 1
    if damage == "consistent":  # a whole file, whose sketch is not the game of its digest
        data["digest"] = stored_draws._digest(stored_draws._text(data["draw"]))
    file.write_text(text[:-20] if damage == "torn" else json.dumps(data))
    assert _draw(3) == first
    assert file.read_text() == text


def test_distribution_is_a_function_of_its_seed() -> None:
    first = GameDistribution(FAST, 3).games()
    assert [one.name for one in first] == [one.name for one in GameDistribution(FAST, 3).games()]
    assert [one.name for one in first] == [one.name for one in GameDistribution(FAST, 4).games()[:3]]
    assert not {one.name for one in first} & {one.name for one in GameDistribution(FAST, 3, seed=1).games()}
    assert all(describe(make_game(one.name)) == one.name for one in first)


def test_named_wording_tells_the_same_games_in_it() -> None:
    own, named = (GameDistribution.read(f"draws({FAST}, 2{option})") for option in ("", ", wording=2"))
    assert [one.draw for one in named.games()] == [one.draw for one in own.games()]
    assert (str(named), named.name) == (f"draws({FAST}, 2, seed=0, wording=2)", f"draws({FAST}, 2, wording=2)")
    for plain, worded in zip(own.games(), named.games(), strict=True):
        game, other = make_game(worded.name), make_game(plain.name)
        assert describe(game) == worded.name == plain.name.replace(")", ", wording=2)")
        assert game.rules(0) == write_rules(replace(plain.draw.description, wording=2), 0) != other.rules(0)
        assert other.rules(0) == write_rules(plain.draw.description, 0)
        assert game.figure_name == f"{other.figure_name}-wording-2"


def test_stream_has_its_wording_in_every_iteration() -> None:
    stream = GameStream.read(f"stream({FAST}, 2, wording=2)")
    assert stream.figure_name == f"stream-{FAST}-wording-2"
    assert stream.games_of(3).wording == 2
    assert replace(stream.games_of(3), wording=None) == GameStream(FAST, 2).games_of(3)


def test_draws_have_one_of_two_wordings() -> None:
    """A third one among those that are drawn would change the wording of seeds that results name."""
    found = [sketch(FAST, "small", Key(seed)) for seed in range(30)]
    assert {one.describe("Sketch", words).wording for one, words in found} == {0, 1}


def test_distribution_has_no_game_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (one.draw for one in GameDistribution(FAST, 2).games())
    turns = iter([first, first, second])
    monkeypatch.setattr(distribution, "draw_game", lambda *_: next(turns))
    assert [one.draw for one in GameDistribution(FAST, 2, seed=7).games()] == [first, second]


def test_games_apart_are_not_drawn() -> None:
    first, second = GameDistribution(FAST, 2).games()
    (other,) = GameDistribution(FAST, 1).games(apart=[first.draw.digest])
    assert other == second


def test_games_where_random_play_loses_little_are_left_out() -> None:
    every = GameDistribution(FAST, 3).games()
    least = sorted(one.draw.worth.random.exploitability for one in every)[1]
    left = GameDistribution(FAST, 2).games(least_random=least)
    assert all(one.draw.worth.random.exploitability >= least for one in left)


def test_exhausted_family_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    only = draw_game(0, FAST, "small")
    monkeypatch.setattr(distribution, "draw_game", lambda *_: only)
    with pytest.raises(CannotCompute, match="finds 1 different games, and 50 further draws gave no other"):
        GameDistribution(FAST, 2, seed=8).games()


def test_lists_of_games_expand() -> None:
    names = [one.name for one in GameDistribution(FAST, 2).games()]
    assert expand_games(["kuhn", f"draws({FAST}, 2)", names[0]]) == ["kuhn", *names]
    assert expand_games(["kuhn", "kuhn"]) == ["kuhn", "kuhn"]  # which the list's owner refuses


@pytest.mark.parametrize(
    ("text", "kind", "sentence"),
    [
        ("draws(chess, 3)", UnknownName, "chess"),
        ("draws(cards, 0)", BadParameter, "draws needs `count` of at least 1"),
        ("draws(cards, 99999)", BadParameter, "1000"),
        ("draws(cards, many)", BadParameter, "`count` of at least 1, a whole number, not 'many'"),
        ("draws(cards)", BadParameter, "lacks its count"),
        ("draws(cards, 3, seed=x)", BadParameter, "A seed is a whole number"),
        ("draws(cards, 3, size=huge)", BadParameter, "small, medium, large"),
        ("draws(cards, 3, wording=3)", BadParameter, "`wording` from 0 to 2, a whole number, not 3"),
        ("stream(cards, 3, wording=x)", BadParameter, "`wording` from 0 to 2, a whole number, not 'x'"),
        ("draws(cards, 3, family=dice)", BadParameter, "is no distribution of games"),
    ],
)
def test_wrong_distribution_is_one_sentence(text: str, kind: type[Exception], sentence: str) -> None:
    reader = GameStream if text.startswith("stream") else GameDistribution
    with pytest.raises(kind, match=sentence):
        reader.read(text)


def test_distribution_is_no_single_game() -> None:
    with pytest.raises(BadParameter, match="names several games, and one is needed here"):
        make_game("draws(cards, 3)")


@pytest.mark.parametrize(
    "make", [lambda: make_game("drawn(family=[1])"), lambda: GameDistribution.read("draws([1], 5)")]
)
def test_family_that_is_a_list_is_one_sentence(make):
    with pytest.raises(BadParameter, match=r"`family` as one of cards, dice, .*, mixed, not \[1\]\."):
        make()
