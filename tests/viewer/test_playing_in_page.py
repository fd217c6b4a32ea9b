"""Games of people in the page: what they are shown, what they may answer, and what is recorded."""

import json
import re
import threading
import time

import pytest
from page_client import Pages, Wire
from shown_folder import episodes_of

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.games import make_game
from stratagem.games.catalogue import GAMES
from stratagem.games.choices import Flat, Sheet, Slot
from stratagem.games.open_text import OpenText
from stratagem.playing.forks import steps
from stratagem.playing.store import read_episodes, write_shard
from stratagem.playing.workers.limited import WorkEnded
from stratagem.show.viewer.faces.catalogue import face_of
from stratagem.show.viewer.faces.frames import draw_episode, draw_view
from stratagem.show.viewer.jobs import JobPrice
from stratagem.show.viewer.links import Links
from stratagem.show.viewer.positions import choices_json, legal
from stratagem.show.viewer.sitting import PERSON, Origin, PageMessage, SeatedGame, TypedReply, sit_down
from stratagem.show.viewer.tables import OpenTable


def seated(game="kuhn(hands=1)", seat=0, key=1, **changes):
    return SeatedGame(id="table", game=game, seat=seat, key=key, **{"players": {1 - seat: "AlwaysBet"}} | changes)


def first_choice(wire):
    """Answer the question that was asked last by its first choice."""
    seat, ask = next(message for message in reversed(wire.sent) if message.content["event"] == "ask")
    return TypedReply(seat, ask["number"], ask["choices"]["actions"][0])


def played(one, replies=()):
    wire = Wire([*replies, *[first_choice] * 50])
    return sit_down(one, wire), [message.content for message in wire.sent]


def before_the_end(events):
    return json.dumps(events[: next(place for place, event in enumerate(events) if event["event"] == "round")])


@pytest.mark.parametrize("seat", [0, 1])
def test_what_a_person_is_told_does_not_depend_on_the_other_card(seat):
    told = {}
    for key in range(24):
        episode, events = played(seated(seat=seat, key=key))
        own = re.search("Your card is (.)", json.dumps(events))[1]
        told.setdefault(own, set()).add(before_the_end(events))
        assert episode.players[seat] == "human@1"
    assert set(told) == {"J", "Q", "K"}
    assert all(len(texts) == 1 for texts in told.values())


def test_illegal_replies_are_refused_in_words_and_late_ones_ignored():
    replies = [
        TypedReply(0, 7, "BET"),
        TypedReply(0, 1, "fly to the moon"),
        TypedReply(0, 1, ""),
        TypedReply(0, 1, "bet or pass"),
        TypedReply(0, 1, "I bet!"),
    ]
    episode, events = played(seated(), replies)
    refused = [event["sentence"] for event in events if event["event"] == "refused"]
    assert refused == [
        "'fly to the moon' is no legal action: play PASS, BET.",
        "There is no action in it: play PASS, BET.",
        "It names more than one action: play PASS, BET.",
    ]
    own = next(row for row in episode.decisions if row.seat == 0)
    assert (own.action, own.how, own.attempt) == ("BET", "free", 0)
    assert episode.num_illegal == [0, 0]


def test_person_may_take_any_seat():
    players = {0: "random", 2: "first-legal"}
    episode, events = played(seated("public-goods", seat=1, players=players))
    assert episode.slots == (1, 0, 2)
    assert [event["seat"] for event in events[:1]] == [1]


def test_each_person_is_told_the_own_view_only():
    wire = Wire([first_choice] * 50)
    episode = sit_down(seated("kuhn(hands=2)", players={1: "person"}), wire)
    assert episode.players == ("human@1", "human@1")
    for seat in (0, 1):
        events = [message.content for message in wire.sent if message.seat == seat]
        asked = [event["situation"] for event in events if event["event"] == "ask"]
        own = [row.state_key[0] for row in episode.decisions if row.seat == seat]
        assert [re.search("Your card is (.)", text)[1] for text in asked] == own
        assert all(set(re.findall(r"\b[JQK]\b", text)) == {card} for text, card in zip(asked, own, strict=True))
        assert (events[0]["event"], events[0]["seat"]) == ("begun", seat)


def test_reply_counts_for_its_own_seat():
    wrong = [TypedReply(1, 1, "BET"), TypedReply(0, 1, "PASS")]
    wire = Wire([*wrong, *[first_choice] * 9])
    episode = sit_down(seated(players={1: "person"}), wire)
    assert (episode.decisions[0].seat, episode.decisions[0].action) == (0, "PASS")


def told(game, seat, players):
    """Events of the page of a seat."""
    wire = Wire([first_choice] * 50)
    sit_down(seated(game, seat=seat, players=players), wire)
    return [message.content for message in wire.sent if message.seat == seat]


def test_turns_that_change_nothing_in_a_view_are_not_told():
    """Two others whisper in two turns, and the seat is told once, that they have ended."""
    whispers = "talk(public-goods(rounds=1),before=round,limit=20,channel=private,who=[1,2],order='in turn')"
    kinds = [event["event"] for event in told(whispers, 0, dict.fromkeys((1, 2), "first-legal"))]
    assert kinds == ["begun", "moved", "moved", "ask", "taken", "moved", "round", "end"]


def test_moves_of_others_are_told_one_after_another():
    events = told("resistance(missions=1)", 4, dict.fromkeys(range(4), "first-legal"))
    kinds = [event["event"] for event in events]
    assert kinds == ["begun", "moved", "moved", "ask", "taken", "moved", "moved", "round", "end"], (
        "a team, votes, the mission"
    )
    events = told("tic-tac-toe", 0, {1: "first-legal"})
    _, own, other, *_ = (event["drawn"] for event in events if event["event"] == "moved")
    assert [len(one["frames"]) for one in (own, other)] == [2, 2]
    assert own["frames"][1] == other["frames"][0]
    assert [one["turns"][0]["decisions"][0]["seat"] for one in (own, other)] == [0, 1]


@pytest.mark.parametrize("name", [*sorted(GAMES.keys() - {"matrix", "diplomacy"}), "diplomacy(until=1901)"])
def test_every_game_has_a_board_for_a_person(name):
    game = make_game(name)
    _, events = played(seated(name, players=dict.fromkeys(range(1, game.spec.seats), "random")))
    asked, (end,) = ([event for event in events if event["event"] == one] for one in ("ask", "end"))
    boards = [event["drawn"]["module"] for event in (asked[0], end)]
    assert boards == [f"/static/{face_of(game).module.name}"] * 2


HIDING = (
    "kuhn(hands=2)", "kuhn-spiel", "leduc", "liars-dice", "blind-auction", "auction(rounds=2)",
    "negotiation-v2(rounds=2,most=1)", "sender-receiver(states=3,rounds=2)", "resistance(missions=1)",
    "talk(kuhn(hands=1),before=round,intents=[state])",
)  # fmt: skip
TOLD = {
    "event", "seat", "rules", "unit", "game", "players", "situation", "number", "choices", "drawn", "action", "payoff",
    "over",
}  # fmt: skip


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("game", HIDING)
def test_all_that_a_person_is_told_before_the_end_follows_from_the_views(game, seat):
    """Situations and boards are those of the seat's views, as choices are; guests are told the same."""
    seats = range(make_game(game).spec.seats)
    wire = Wire([first_choice] * 99)
    players = {other: "random" if other > 1 else "person" for other in seats if other != seat}
    episode = sit_down(seated(game, seat=seat, players=players), wire)
    for own in (0, 1):
        views = [state.view(own) for state, _ in steps(episode)]
        boards = [None, *(draw_view(view) for view in views)]
        events = [message.content for message in wire.sent if message.seat == own]
        (end,) = (place for place, event in enumerate(events) if event["event"] == "end")
        assert end == len(events) - 1
        for event in events[:end]:
            assert set(event) <= TOLD
            assert event.get("drawn") in boards
            assert event.get("situation", views[0].situation) in [view.situation for view in views]
        assert sum(event["event"] == "moved" for event in events) > 1
        assert events[end]["drawn"]["frames"][-1] not in [board["frames"][0] for board in boards[1:]]
        assert events[end]["drawn"]["frames"] == draw_episode(list(steps(episode)))["frames"][-2:]


def test_observers_get_no_board_and_no_situation_of_a_game_that_hides_something():
    wire = Wire([first_choice] * 50)
    sit_down(seated(), wire)
    told = [message.content for message in wire.sent if message.seat is None]
    assert {event["drawn"] for event in told if event["event"] == "turn"} == {None}
    assert {"turn", "round"} <= {event["event"] for event in told}
    assert not any("situation" in event or "card" in json.dumps(event) for event in told[1:-1])


def test_observers_of_a_game_that_hides_nothing_are_told_what_the_one_who_opens_it_is_told():
    wire = Wire([first_choice] * 50)
    sit_down(seated("tic-tac-toe", players={1: "random"}), wire)
    public, own = ([message.content for message in wire.sent if message.seat == seat] for seat in (None, 0))
    for event, same in (("turn", "ask"), ("moved", "moved"), ("round", "round")):
        told, expected = (
            [(one["situation"], one.get("drawn")) for one in events if one["event"] == kind]
            for events, kind in ((public, event), (own, same))
        )
        assert told
        assert told == expected[-len(told) :]


def test_boards_are_shown_where_a_seat_alone_can_be_drawn():
    def asked(game):
        _, events = played(seated(game, players={1: "random"}))
        return next(event for event in events if event["event"] == "ask")

    board = asked("tic-tac-toe")["drawn"]
    assert (board["face"], board["module"], len(board["frames"])) == ("grid", "/static/face_grid.js", 1)
    assert asked("ipd(rounds=1)")["drawn"]["face"] == "matrix"
    assert asked("kuhn(hands=1)")["drawn"]["face"] == "cards"
    assert asked("negotiation-v2(rounds=1)")["drawn"]["face"] == "items"


def test_sheets_and_long_lists_are_told_as_forms():
    sheet = Sheet([Slot("A", ("go", "stay")), Slot("B", ("hold",))], fill=1)
    told = choices_json(sheet)
    assert told["kind"] == "sheet"
    assert [slot["name"] for slot in told["slots"]] == ["A", "B"]
    assert legal(sheet, " Stay ") == "stay"
    with pytest.raises(BadParameter, match="no legal action: play 1 of these, one line each"):
        legal(sheet, "run")
    long = choices_json(Flat(f"action {number}" for number in range(1000)))
    assert (long["kind"], len(long["actions"]), long["count"]) == ("flat", 300, 1000)
    own = OpenText(["SILENT"], 20, ["TO ALL: "])
    assert choices_json(own) == {"kind": "text", "actions": ["SILENT"], "heads": ["TO ALL: "]}
    assert legal(own, "TO ALL: Let us share.") == "TO ALL: Let us share."


@pytest.fixture
def root(tmp_path):
    write_shard(tmp_path / "games", 0, episodes_of("kuhn", ["TightPassive", "AlwaysBet"], name="hands"))
    return tmp_path


def test_person_plays_on_from_a_recorded_turn(root):
    parent = next(read_episodes(root / "games"))
    turn = next(row.turn for row in parent.decisions if row.seat == 0 and row.turn > 1)
    origin = Origin(root / "games", "hands/0.0", turn, None)
    episode, _ = played(seated("", origin=origin, players={}))
    assert (episode.parent, episode.forked_at) == ("hands/0.0", turn)
    assert episode.players == ("human@1", "kuhn/AlwaysBet@1")
    assert episode.decisions[0].turn == turn
    with pytest.raises(BadParameter, match="has seats 0 to 1, and none 5"):
        played(seated("", seat=5, origin=origin, players={}))


def test_hands_of_a_record_are_not_dealt_to_guests(root):
    """The operator can read them in the record."""
    origin = Origin(root / "games", "hands/0.0", 2, None)
    with pytest.raises(BadParameter, match="kuhn hides something from each seat, and the record shows it to you"):
        played(seated("", origin=origin, players={1: "person"}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"players": {}}, "kuhn has seats 0 to 1: name a player for each other seat."),
        ({"seat": 4, "players": {0: "random", 1: "random"}}, "kuhn has seats 0 to 1"),
        ({"players": {1: "human"}}, "People sit down here by links: write person for the player of a seat"),
        ({"players": {1: "Nobody"}}, "There is no player of kuhn called 'Nobody'"),
        ({"players": {1: "cmd:rm -rf /"}}, "would run a program, which neither you nor a file in a folder"),
    ],
)
def test_wrong_seatings_are_refused_in_words(change, sentence):
    with pytest.raises(StratagemError, match=sentence):
        played(seated(**change))


def test_server_is_priced_before_the_first_decision():
    pytest.importorskip("openai")
    agent = "lm('api:some-model@http://127.0.0.1:9/v1')"
    result, events = played(seated(players={1: agent}))
    assert isinstance(result, JobPrice)
    assert (result.price["calls"], result.price["servers"]) == (1, True)
    assert events == []


def test_every_byte_before_the_end_is_of_the_own_seat(root):
    pages = Pages(root)
    table = pages.do("sit", game="kuhn(hands=1)", seat=0, players={"1": "AlwaysBet"})["id"]
    seen, over, rules, until = 0, None, "", time.monotonic() + 60
    while over is None:
        assert time.monotonic() < until
        time.sleep(0.05)
        events = pages.get("table", id=table, seen=seen)["events"]
        over = next((event for event in events if event["event"] in ("over", "failed", "left")), None)
        if over or any(event["event"] in ("round", "end") for event in events):
            del pages.heard[-1]  # the end tells the payoff, from which the other card may follow, and then the card
        seen += len(events)
        for event in events:
            rules = event.get("rules", rules)
            if event["event"] == "ask":
                pages.get("library")
                pages.do("reply", id=table, number=event["number"], text=event["choices"]["actions"][0])
    heard = "".join(pages.heard).replace(json.dumps(rules)[1:-1], "")
    heard = re.sub(r"token=[\w-]+", "", heard)  # random text, in which any letter may stand alone
    cards = set(re.findall(r"(?<![A-Za-z])[JQK](?![A-Za-z])", heard))
    (episode,) = read_episodes(root / "played")
    assert over == {
        "event": "over",
        "record": "played",
        "episode": episode.id,
        "payoffs": episode.payoffs,
        "finished": True,
    }
    first = pages.get("episode", record="played", id=episode.id)
    assert first["players"] == ["human@1", "kuhn/AlwaysBet@1"]
    assert cards == {first["frames"][0]["state"]["cards"][0]}
    assert str(episode.key) not in heard
    pages.studio.close()


def test_game_that_is_left_is_not_recorded(root):
    pages = Pages(root)
    table = pages.do("sit", game="kuhn", seat=0, players={"1": "AlwaysBet"})["id"]
    pages.do("leave", id=table)
    answer = pages.get("table", id=table)
    assert (answer["open"], answer["events"][-1]["event"]) == (False, "left")
    assert not (root / "played").exists()
    assert "no table called 'x'" in pages.do("reply", 404, id="x", number=1, text="BET")["error"]
    assert "There is no game called 'chesss'" in pages.do("sit", 404, game="chesss", seat=0)["error"]


def test_games_are_told_with_their_seats_and_players(root):
    pages = Pages(root)
    assert "kuhn" in pages.get("game")["games"]
    told = pages.get("game", name="kuhn(hands=3)")
    assert (told["game"], told["seats"]) == ("kuhn(hands=3)", ["seat 0", "seat 1"])
    assert {"NashApprox", "random", "tiny"} <= set(told["players"])
    assert "human" not in told["players"]


class ScriptedProcess:
    """Process of a table that has told these events, and is waiting."""

    def __init__(self, events):
        self.told, self.over, self.sent = events, threading.Event(), []

    def __call__(self, *given):
        return self

    def messages(self):
        yield from (PageMessage(1, event) for event in self.told)
        self.over.wait()
        raise WorkEnded("It was cancelled.")

    def send(self, message):
        self.sent.append(message)

    def kill(self):
        self.over.set()


def table_of(monkeypatch, events):
    process = ScriptedProcess(events)
    monkeypatch.setattr("stratagem.show.viewer.tables.LimitedProcess", process)
    table = OpenTable(seated(players={1: PERSON}), None, Links())
    while len(table.events[1]) < len(events):
        time.sleep(0.001)
    return table, process


def test_process_is_sent_one_reply_to_each_question_and_refusal(monkeypatch):
    """Whatever nobody waits for would fill the pipe, and the threads of the server would wait at it."""
    refused = {"event": "refused", "number": 2}
    table, process = table_of(monkeypatch, [{"event": "ask", "number": 1}, {"event": "ask", "number": 2}, refused])
    for seat, number in ((0, 2), (1, 3), (1, 2), (1, 2), (1, 1), (1, 1)):
        table.reply(seat, number, "BET")
    assert process.sent == [TypedReply(1, 2, "BET"), TypedReply(1, 1, "BET")]
    table.close()


def test_seat_gives_a_limited_number_of_illegal_replies(monkeypatch):
    monkeypatch.setattr("stratagem.show.viewer.tables.MOST_REFUSED", 2)
    table, process = table_of(monkeypatch, [{"event": "ask", "number": 1}, *[{"event": "refused", "number": 1}] * 2])
    with pytest.raises(BadParameter, match="2 illegal replies"):
        table.reply(1, 1, "BET")
    assert not process.sent
    table.close()
