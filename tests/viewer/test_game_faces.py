"""Faces of games: frames of every game that we ship, the map of Diplomacy, and faces of strangers."""

import json
import re
from itertools import pairwise

import pytest
from read_boards import boards_of
from shown_face import BLOCKS, make_game_with_face

import stratagem.games.catalogue as games
import stratagem.show.viewer.faces.catalogue as faces
from stratagem.base.consent.table import commanding
from stratagem.base.errors import StratagemError
from stratagem.games.catalogue import game_names, make_game
from stratagem.games.diplomacy.engine import centers_of, maps
from stratagem.games.diplomacy.graph import graph_of, province
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player
from stratagem.playing.forks import steps
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.show.viewer.faces.base import STATIC, GameFace
from stratagem.show.viewer.faces.catalogue import FACES, face_of
from stratagem.show.viewer.faces.diplomacy import layout_of
from stratagem.show.viewer.faces.frames import draw_episode, stranger
from stratagem.show.viewer.replays import replay_episode
from test_entry_points import write_installed

GAMES = [name for name in game_names() if name not in ("matrix", "diplomacy")]


def boards(text, key=3):
    """Play one episode; return it with what its board shows at the start and after each turn."""
    episode, _ = frames_of(text, key)
    return episode, boards_of(replay_episode(episode))[0]


def frames_of(text, key=3):
    """Play one episode, and draw it."""
    game = make_game(text)
    match = Match(game, [make_player("random", game)] * game.spec.seats)
    (episode,) = play([next(iter(rotate_seats(match, 1, Key(key), name="drawn")))])
    return episode, draw_episode(list(steps(episode)))


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_a_face_with_a_frame_for_each_turn(name):
    episode, data = frames_of(name)
    turns = len({row.turn for row in episode.decisions})
    assert data["trouble"] == ""
    assert data["face"] != "text", "a game that we ship has a face"
    assert len(data["frames"]) == turns + 1
    assert (STATIC / f"face_{data['face']}.js").is_file()
    assert json.loads(json.dumps(data["frames"]))[-1] != data["frames"][0]


def test_every_module_of_a_face_exports_its_three_parts():
    for path in sorted(STATIC.glob("face_*.js")):
        text = path.read_text("utf-8")
        assert "export const { mount, render, unmount } = drawn(" in text, path.name
        assert path.name in {face.module.name for face in (*FACES.values(), type(face_of(make_game("spiel:hex"))))}


@pytest.mark.parametrize(
    ("text", "face"),
    [
        ("spiel:breakthrough(rows=6,columns=6)", "text"),
        ("spiel:pig(players=3,winscore=20)", "text"),
        ("spiel:goofspiel(num_cards=4,players=3)", "text"),
        ("spiel:goofspiel(num_cards=4)", "goofspiel"),
        ("spiel:nim(pile_sizes=2;3)", "nim"),
    ],
)
def test_other_sizes_of_a_game_are_drawn_by_a_face_that_fits(text, face):
    _, data = frames_of(text)
    assert (data["face"], data["trouble"]) == (face, "")


def test_pig_is_drawn_up_to_its_own_goal():
    assert [boards(text)[1][0]["goal"] for text in ("pig", "spiel:pig(winscore=20)")] == [100, 20]


def test_question_of_a_quiz_does_not_hold_its_answer():
    _, data = frames_of("quiz(rounds=2)")
    asked, *answered = data["frames"]
    assert asked["right"] is None
    assert isinstance(asked["question"], str)
    assert all(frame["right"] in range(4) for frame in answered)


def test_leduc_counts_the_chips_of_each_seat():
    for key in range(4):
        episode, drawn = boards("leduc", key)
        last = drawn[-1]
        lost = -min(episode.payoffs)
        assert last["chips"][episode.payoffs.index(min(episode.payoffs))] == lost or lost == 0
        assert (last["folded"] is not None) == (last["bets"][0] + last["bets"][1])[-1]["word"].startswith("fold")


def test_liars_dice_shows_who_was_right():
    episode, drawn = boards("liars-dice")
    last = drawn[-1]
    count, face = last["bids"][-1]
    holds = sum(die in (face, 6) for die in last["dice"]) >= count
    assert episode.payoffs[last["called"]] == (-1 if holds else 1)


def test_pig_shows_the_die_that_was_thrown():
    _, drawn = boards("pig")
    assert {board["die"] for board in drawn} >= {None, 1, 6}
    for before, after in pairwise(drawn):
        if after["die"] == 1:
            assert after["total"] == 0
            assert after["mover"] != before["mover"]
        elif after["die"] and after["scores"] == before["scores"]:
            assert after["total"] == before["total"] + after["die"]


def test_kuhn_shows_the_hand_that_a_turn_was_played_in():
    episode, drawn = boards("kuhn(hands=2)")
    states = [state for state, _ in steps(episode)]
    for before, board in zip(states, drawn[1:], strict=False):
        assert (board["cards"], board["hand"]) == (before.cards, before.round)
    for row, board in zip(episode.decisions, drawn[1:], strict=True):
        assert board["bets"][0][-1] == {"seat": row.seat, "letter": row.action[0], "word": row.action.lower()}


def test_auction_marks_the_best_bid_and_who_is_paid():
    _, drawn = boards("auction(seats=3)")
    assert drawn[0]["past"] == []
    assert drawn[-1]["values"] is None
    for row in drawn[-1]["past"]:
        ranks = [["LOW", "MEDIUM", "HIGH"].index(bid) for bid in row["bids"]]
        assert row["best"] == [rank == max(ranks) for rank in ranks]
        assert all(payoff == 0.0 for payoff, best in zip(row["payoffs"], row["best"], strict=True) if not best)


def test_sender_and_receiver_show_the_round_that_was_played():
    _, drawn = boards("sender-receiver(rounds=2)")
    assert [board["action"] is None for board in drawn] == [True, True, False, True, False]
    assert [drawn[2]["drawn"], drawn[2]["message"], drawn[2]["action"]] == drawn[-1]["past"][0]


def test_bargaining_splits_the_pool_at_every_offer():
    episode, drawn = boards("bargaining")
    last = drawn[-1]
    assert last["demands"][-1]["deal"] is any(episode.payoffs)
    assert not any(row["deal"] for row in last["demands"][:-1])
    for row in last["demands"]:
        assert [sum(pair) for pair in zip(*row["bundles"], strict=True)] == last["pool"]


def test_quiz_shows_the_question_that_was_answered():
    episode, data = frames_of("quiz")
    for frame, row in zip(data["frames"][1:], episode.decisions, strict=True):
        assert frame["chosen"] == row.action
        assert (row.payoff == 1.0) == (frame["letters"][frame["right"]] == row.action)


def test_map_of_diplomacy_shows_the_orders_of_a_phase_in_its_position():
    _, data = frames_of("diplomacy(until=1901, judged=False)")
    assert data["face"] == "diplomacy"
    assert data["seat_names"][0] == "AUSTRIA"
    first = data["frames"][1]
    assert first["position"]["phase"] == "S1901M"
    units = {unit for own in first["position"]["units"].values() for unit in own}
    assert {" ".join(row["order"].split()[:2]) for row in first["orders"]} == units
    for before, after in zip(data["frames"][1:], data["frames"][2:], strict=False):
        assert before["result"] == after["position"]


def test_standard_map_has_a_place_and_an_outline_for_every_province():
    text = (STATIC / "map_standard.js").read_text("utf-8")
    drawing = json.loads(text[text.index("{") : text.rindex("}") + 1])
    nodes = graph_of("standard").nodes
    assert {node[2:] for node in nodes} == set(drawing["places"])
    assert {province(node) for node in nodes} == {*drawing["land"], *drawing["sea"]}
    assert len({*drawing["land"], *drawing["sea"]}) == 75
    assert centers_of("standard") <= {*drawing["land"]}
    width, height = drawing["size"]
    assert all(10 < x < width - 10 and 10 < y < height - 10 for x, y in drawing["places"].values())
    assert len({tuple(place) for place in drawing["places"].values()}) == len(drawing["places"])
    fleets = {province(node) for node in nodes if node[0] == "F"}
    armies = {province(node) for node in nodes if node[0] == "A"}
    assert set(drawing["sea"]) == fleets - armies


def test_map_without_a_drawing_gets_a_layout():
    layout = layout_of("pure")
    assert len(layout["places"]) == 7
    assert len(layout["pairs"]) == 21
    places = list(layout["places"].values())
    apart = [abs(x - u) + abs(y - v) for place, (x, y) in enumerate(places) for u, v in places[place + 1 :]]
    assert min(apart) > 60
    assert "pure" in maps()


MODULE = "export const mount = () => {}, render = () => {}, unmount = () => {};"


def own_face(tmp_path, **parts):
    (tmp_path / "own.js").write_text(MODULE)
    return type("OwnFace", (GameFace,), {"module": tmp_path / "own.js", **parts})


@pytest.fixture
def kuhn_face(monkeypatch):
    """Give Kuhn poker a face of a stranger."""
    game = type(make_game("kuhn"))
    return lambda face: monkeypatch.setattr(game, "drawn_by", face)


def test_face_that_a_game_names_gets_its_state_and_texts(tmp_path, kuhn_face):
    kuhn_face(own_face(tmp_path))
    _, data = frames_of("kuhn(hands=1)")
    assert (data["face"], data["trouble"]) == ("own", "")
    assert re.fullmatch(r"/faces/[0-9a-f]{16}\.js", data["module"])
    assert len(data["frames"][0]["state"]["cards"]) == 2
    assert data["frames"][0]["situations"][0].startswith("Your card")


def broken(self, state):
    raise RuntimeError("it wants a licence")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: own_face(path, frame=broken), "RuntimeError: it wants a licence."),
        (
            lambda path: own_face(path, frame=broken, module=STATIC / "face_grid.js"),
            "RuntimeError: it wants a licence.",
        ),
        (lambda path: own_face(path, frame=lambda self, state: {"set": {1}}), "TypeError: Object of type set is not"),
        (lambda path: own_face(path, module=path / "none.js"), "its module none.js is no file that ends in .js."),
        (lambda path: own_face(path, module=__file__), "AttributeError: 'str' object has no attribute"),
        (lambda path: GameFace, "AttributeError: 'GameFace' object has no attribute 'module'."),
        (lambda path: 7, "TypeError: 'int' object is not callable."),
        (lambda path: "none.js", "its module none.js is no file that ends in .js."),
        (lambda path: "kuhn.py", "its module kuhn.py is no file that ends in .js."),
    ],
)
def test_broken_face_is_one_sentence_above_the_texts(tmp_path, kuhn_face, make, sentence):
    kuhn_face(make(tmp_path))
    _, data = frames_of("kuhn(hands=1)")
    assert data["face"] == "text"
    assert data["trouble"].startswith("The face of kuhn cannot be used: ")
    assert sentence in data["trouble"]
    assert not issubclass(type(data["trouble"]), StratagemError)


def test_page_tells_how_a_file_brings_its_own_face(tmp_path):
    with commanding():
        episode, data = frames_of(make_game_with_face(tmp_path))
        first = data["module"]
        assert (data["face"], data["trouble"]) == ("goods", "")
        assert stranger(first.removeprefix("/faces/")) == (tmp_path / "goods.js").read_bytes()
        assert len(data["frames"]) == 2
        (tmp_path / "goods.js").write_text(MODULE)
        assert draw_episode(list(steps(episode)))["module"] != first, "a page loaded again takes the new file"


def test_entry_point_of_a_package_brings_a_face(tmp_path, monkeypatch):
    """The game and its face are found by the metadata of a package."""
    write_installed(tmp_path)
    (tmp_path / "coin_face.js").write_text(MODULE)
    (tmp_path / "coin_face.py").write_text(BLOCKS["py"][0].replace("goods.js", "coin_face.js"))
    entries = tmp_path / "coin_match-0.3.dist-info" / "entry_points.txt"
    entries.write_text(entries.read_text().replace("coin_match:CoinMatch", "coin_package:PACKAGE"))
    declared = 'GamePackage("coin-match", rules="coin_match:CoinMatch", face="coin_face:GoodsFace")'
    (tmp_path / "coin_package.py").write_text(
        f"from stratagem.games.package import GamePackage\n\nPACKAGE = {declared}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for registry in (games.REGISTRY, faces.REGISTRY):
        monkeypatch.delitem(vars(registry), "entries", raising=False)
    _, data = frames_of("coin-match")
    assert (data["face"], data["trouble"]) == ("coin_face", "")
    for registry in (games.REGISTRY, faces.REGISTRY):
        vars(registry).pop("entries", None)
