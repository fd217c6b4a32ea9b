"""Paired deals: the same deals of two players, and where their play and their prompts part."""

import pickle
from dataclasses import replace

import pytest
from browser import faults_of_accessibility
from shown_folder import HOSTILE, call_of, episodes_of
from starlette.testclient import TestClient

from stratagem.language.engines.base import Prompt
from stratagem.measure.statistics import with_interval
from stratagem.playing.store import read_episodes, write_shard
from stratagem.show.viewer.app import Viewer
from stratagem.show.viewer.pairs import difference
from stratagem.show.viewer.studio import Studio

FIRST, SECOND = "kuhn/NashApprox@1", "kuhn/AlwaysBet@1"


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """The same deals of two players against a third; the second was told one line more."""
    root = tmp_path_factory.mktemp("paired")
    for shard, (name, player) in enumerate((("a", "NashApprox"), ("b", "AlwaysBet"))):
        episodes = episodes_of("kuhn(hands=1)", [player, "TightPassive"], 8, name="deal")
        for episode in episodes:
            episode.id = f"{name}/{episode.id}"
            for decision in episode.decisions:
                if episode.players[decision.seat] in (FIRST, SECOND):
                    decision.calls = (told(call_of(decision), bold=name == "b"),)
        write_shard(root / "evals", shard, episodes)
    return root


@pytest.fixture(scope="module")
def longer(tmp_path_factory):
    """Two hands of equal play and prompts up to a later turn; beside them copies that do not count."""
    root = tmp_path_factory.mktemp("longer")
    (first, *_) = episodes_of("kuhn(hands=2)", ["NashApprox", "TightPassive"], 1, name="deal")
    first.id, seat = "a", first.players.index(FIRST)
    for row in first.decisions:
        row.calls = (call_of(row),)
    second = copied(first, "b", {row.seat: SECOND for row in first.decisions if row.seat == seat})
    for row in second.decisions:
        if row.seat != seat:
            row.calls = (told(row.calls[0], bold=True),)
    own = [row for row in second.decisions if row.seat == seat]
    own[-1].action = {"PASS": "BET", "BET": "PASS", "CALL": "FOLD", "FOLD": "CALL"}[own[-1].action]
    second.payoffs = [payoff + 2.0 for payoff in second.payoffs]
    left_out = [copied(second, name, {}) for name in ("probe", "unfinished", "again")]
    for episode in left_out:
        episode.payoffs = [payoff + 100.0 for payoff in episode.payoffs]
    left_out[0].purpose, left_out[1].finished = "probe", False
    write_shard(root / "evals", 0, [*left_out[:2], first, second])
    write_shard(root / "evals", 1, [left_out[2]])
    return root, seat, own[-1].turn


def copied(episode, name, players):
    """The same episode under another name, with other players at some seats."""
    other = pickle.loads(pickle.dumps(episode))
    other.id, other.players = name, tuple(players.get(seat, own) for seat, own in enumerate(episode.players))
    return other


def told(call, *, bold):
    system, user = call.prompt.messages
    return replace(call, prompt=Prompt((system, (user[0], user[1] + ("\nBe bold." if bold else "")))))


@pytest.fixture
def ask(record):
    return asking(record)


def asking(root):
    client = TestClient(Viewer(Studio(root)).application(), base_url="http://127.0.0.1:8150")

    def get(page, status=200, **query):
        answer = client.get(f"/api/{page}", params=query)
        assert answer.status_code == status, answer.text
        return answer.json()

    return get


def test_deals_of_two_players_are_matched_by_chance_seat_and_opponent(ask, record):
    data = ask("pairs", record="evals", first=FIRST, second=SECOND)
    assert set(data["players"]) == {FIRST, SECOND}
    episodes = {episode.id: episode for episode in read_episodes(record / "evals", calls=False)}
    assert data["found"] == 8
    gains = {}
    for row in data["pairs"]:
        one, other = episodes[row["first"]], episodes[row["second"]]
        assert one.chance == other.chance
        assert (one.players[row["seat"]], other.players[row["seat"]]) == (FIRST, SECOND)
        assert row["payoffs"] == [one.payoffs[row["seat"]], other.payoffs[row["seat"]]]
        gains.setdefault(one.chance, []).append(row["payoffs"][1] - row["payoffs"][0])
    expected = with_interval([sum(values) / len(values) for values in gains.values()])
    assert data["deals"] == expected.n == len(gains)
    assert data["gain"]["mean"] == pytest.approx(expected.mean)
    assert (data["gain"]["low"], data["gain"]["high"]) == pytest.approx((expected.low, expected.high))
    sizes = [abs(row["payoffs"][1] - row["payoffs"][0]) for row in data["pairs"]]
    assert sizes == sorted(sizes, reverse=True)


def test_pair_tells_where_play_parts_and_what_prompts_differ_in(ask):
    row = ask("pairs", record="evals", first=FIRST, second=SECOND)["pairs"][0]
    data = ask("pair", record="evals", first=row["first"], second=row["second"], seat=row["seat"])
    assert data["players"] == [FIRST, SECOND]
    parted = [turn for turn in data["turns"] if turn["actions"][0] != turn["actions"][1]]
    assert data["parted"] == parted[0]["turn"]
    assert not data["prompt"]["same"]
    assert [line["text"] for line in data["prompt"]["lines"] if line["in"] == "second"] == ["Be bold."]
    assert [line["text"] for line in data["prompt"]["lines"] if line["in"] == "first"] == []


def test_gain_is_a_round_and_of_the_first_finished_game_of_each_player(longer):
    root, seat, _ = longer
    data = asking(root)("pairs", record="evals", first=FIRST, second=SECOND)
    assert [(row["first"], row["second"], row["seat"]) for row in data["pairs"]] == [("a", "b", seat)]
    assert data["gain"]["mean"] == 1.0, "2 points more in two hands"


def test_equal_prompts_are_those_of_the_own_seat_where_play_parts(longer):
    root, seat, parted = longer
    data = asking(root)("pair", record="evals", first="a", second="b", seat=seat)
    assert data["parted"] == data["prompt"]["turn"] == parted > 0
    assert data["prompt"]["same"]


def test_pairs_of_strangers_are_none(ask):
    assert ask("pairs", record="evals", first=FIRST, second="nobody")["found"] == 0
    assert ask("pairs", record="evals", first=FIRST, second=FIRST)["gain"] is None
    row = ask("pairs", record="evals")["pairs"][0]
    assert "Seat 7" in ask("pair", 400, record="evals", first=row["first"], second=row["second"], seat=7)["error"]
    assert "episode" in ask("pair", 404, record="evals", first="no", second=row["second"])["error"]


def test_difference_has_every_line_of_both_texts():
    lines = difference("a\nb\nc", "a\nx\nc\nd")
    assert [(line["in"], line["text"]) for line in lines] == [
        ("both", "a"), ("first", "b"), ("second", "x"), ("both", "c"), ("second", "d"),
    ]  # fmt: skip


def test_pair_is_shown_with_its_prompts(browser, record):
    from stratagem.api.views import open_viewer

    page = browser.new_page()
    with open_viewer(record, port=0, needs_token=False).server as server:
        page.goto(f"{server.url}/#/games?record=evals")
        page.get_by_role("link", name="Paired deals").click()
        page.wait_for_url("**/#/pairs*")
        page.get_by_label("Newest first").wait_for(state="detached")  # the list is gone
        page.get_by_label("First").select_option(FIRST)
        page.get_by_label("Second").select_option(SECOND)
        page.wait_for_url("**first=*&second=*")
        page.get_by_role("status").get_by_text(f"{FIRST} and {SECOND}").wait_for()
        page.get_by_role("link", name="kuhn(hands=1), seat").first.click()
        page.get_by_role("heading", name="First prompts that differ").wait_for()
        assert page.locator(".difference .second").all_inner_texts() == ["+ Be bold.\n"]
        assert page.locator(".difference .first").count() == 0
        assert HOSTILE not in page.locator("body").inner_text()
        assert "<script>" in page.locator("body").inner_text()
        assert page.title() == "Pairs · Stratagem"
        assert faults_of_accessibility(page) == []
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()
