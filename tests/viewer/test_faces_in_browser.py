"""Every face in a real browser: without an error, on a phone, accessible; and a stranger's, by `make test-view`."""

import os
import shutil
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import pytest
from shown_face import make_game_with_face

from stratagem.api.views import open_viewer
from stratagem.base.consent.table import commanding
from stratagem.games.catalogue import game_names, make_game
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import write_shard

playwright = pytest.importorskip("playwright.sync_api")

GAMES = [
    *(name for name in game_names() if name not in ("matrix", "diplomacy")),
    "diplomacy(until=1902)", "diplomacy(until=1901, map='pure')", "spiel:hex(board_size=3)",
    "public-goods(rounds=3, fine=0.6)",
]  # fmt: skip
ALIKE = [name for name in GAMES if name not in ("ipd-shapellm", "imp", "icg", "ish", "c-ipd", "breakthrough-6x6")]
"""One game a face."""


def episode_of(text, players=None):
    game = make_game(text)
    made = [make_player(name, game) for name in players or ["random"] * game.spec.seats]
    (episode,) = play(list(islice(rotate_seats(Match(game, made), 1, Key(3), name=text), 1)))
    episode.id = text
    return episode


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    root = tmp_path_factory.mktemp("faces")
    write_shard(root, 0, [episode_of(text) for text in GAMES])
    with open_viewer(root, port=0, needs_token=False).server as server:
        yield server.url


def looked_at(browser, address, name, turn, **options):
    """Open a replay; every error of the page fails the test."""
    page = browser.new_context(**options).new_page()
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.goto(f"{address}/#/replay?record=.&id={quote(name)}&turn={turn}")
    page.locator(".board > *").first.wait_for()
    return page, faults


@pytest.mark.parametrize("name", GAMES)
def test_face_is_drawn_through_the_whole_game_on_a_phone(browser, address, name):
    page, faults = looked_at(browser, address, name, 0, viewport={"width": 390, "height": 844})
    for key in ("ArrowRight", "ArrowRight", "End", "ArrowLeft", "Home"):
        page.keyboard.press(key)
        page.wait_for_timeout(20)
    page.keyboard.press("End")
    page.get_by_text("end of the game").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator(".board .problem").count() == 0
    assert page.locator(".stage > .problem").count() == 0
    assert faults == []
    page.context.close()


@pytest.mark.skipif("STRATAGEM_AXE" not in os.environ, reason="axe-core is not here: make test-view fetches it")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_faces_have_no_fault_of_accessibility(browser, address, scheme):
    page, _ = looked_at(browser, address, ALIKE[0], 2, color_scheme=scheme)
    page.evaluate(Path(os.environ["STRATAGEM_AXE"]).read_text("utf-8"))
    told = []
    for name in ALIKE:
        page.goto(f"{address}/#/replay?record=.&id={quote(name)}&turn=2")
        page.get_by_role("heading", level=1).get_by_text(name, exact=True).last.wait_for()
        page.locator(".board > *").first.wait_for()
        faults = page.evaluate("axe.run('.stage').then((result) => result.violations)")
        told += [f"{name}: {fault['id']}, {fault['nodes'][0]['html']}" for fault in faults]
    page.context.close()
    assert told == []


def test_map_shows_orders_and_then_their_result(browser, address):
    page, faults = looked_at(browser, address, "diplomacy(until=1902)", 1)
    page.get_by_role("heading", name="Spring 1901, movement").wait_for()
    assert page.locator(".unit").count() == 22
    assert page.locator(".land").count() == 56
    assert page.locator(".water").count() == 19
    before = page.locator(".unit").first.get_attribute("transform")
    drawn = page.locator(".order, .hold").count()
    assert drawn == 22
    page.get_by_role("button", name="Result").click()
    assert page.locator(".order, .hold").count() == 0
    transforms = [unit.get_attribute("transform") for unit in page.locator(".unit").all()]
    assert len(transforms) == 22
    assert before is not None
    assert faults == []
    page.context.close()


def test_face_of_a_page_of_the_documentation_is_shown(browser, tmp_path):
    with commanding():
        name = make_game_with_face(tmp_path)
        episode = episode_of(name, ["first-legal", "random", "first-legal"])
        episode.id = "goods"
        write_shard(tmp_path / "record", 0, [episode])
        with open_viewer(tmp_path / "record", port=0, needs_token=False).server as server:
            page, faults = looked_at(browser, server.url, "goods", 0)
            page.get_by_text("Two of three must give.").wait_for()
            page.keyboard.press("End")
            page.get_by_text("of 3 give: the good is made.").wait_for()
            page.get_by_text("Seat 0: GIVE").wait_for()
            assert faults == []
            page.context.close()


NOTHING = "export const mount = () => {}, render = () => {}, unmount = () => {};"
BROKEN = {
    "render": NOTHING.replace("render = () => {}", "render = () => { throw new Error('no board') }"),
    "export": "export const mount = () => {};",
    "load": "export const mount = ;",
    "mount": NOTHING.replace("mount = () => {}, r", "mount = (box) => { box.innerHTML = '<b>x</b>' }, r"),
}


@pytest.mark.parametrize("part", BROKEN)
def test_face_that_fails_in_the_page_is_told_and_stops_nothing(browser, tmp_path, part):
    with commanding():
        name = make_game_with_face(tmp_path)
        (tmp_path / "goods.js").write_text(BROKEN[part])
        episode = episode_of(name)
        episode.id = "goods"
        write_shard(tmp_path / "record", 0, [episode])
        with open_viewer(tmp_path / "record", port=0, needs_token=False).server as server:
            page = browser.new_page()
            page.goto(f"{server.url}/#/replay?record=.&id=goods")
            page.get_by_text("The face cannot").wait_for()
            page.keyboard.press("End")
            page.get_by_text("end of the game").wait_for()
            assert page.locator("b", has_text="x").count() == 0, "the page takes no HTML from a text"
            page.close()


def test_log_of_one_seat_leads_to_its_turns(browser, address):
    page, faults = looked_at(browser, address, "diplomacy(until=1902)", 0)
    log = page.get_by_role("region", name="Log")
    assert log.locator(".move").count() > 7
    log.get_by_role("button", name="Only seat 2: FRANCE").click()
    assert {seat.inner_text() for seat in log.locator(".move .seat").all()} == {"2"}
    log.locator(".entry").nth(2).click()
    page.get_by_role("heading", name="Turn 2 of").wait_for()
    assert "turn=2" in page.url
    log.get_by_role("button", name="All").click()
    assert len({seat.inner_text() for seat in log.locator(".move .seat").all()}) == 7
    assert faults == []
    page.context.close()
