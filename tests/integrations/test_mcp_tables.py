"""Tables for agents of the Model Context Protocol without its package: games in play, questions of an audit, tools."""

import contextlib
import io
import json
import logging
import threading
from dataclasses import replace

import pytest
from script_agents import Equilibrium, answer_all, fold_all

import stratagem as sg
from stratagem.api.audits import carry_out_audit
from stratagem.base.errors import BadParameter
from stratagem.base.lock import hold_lock
from stratagem.connect.mcp import asked, shelf
from stratagem.connect.mcp.asked import AskedTables
from stratagem.connect.mcp.handles import TableHandles
from stratagem.connect.mcp.played import PlayedGame, PlayedTables
from stratagem.connect.mcp.questions import VisitingAgent
from stratagem.connect.mcp.replies import question_reply
from stratagem.connect.mcp.shelf import EpisodeShelf
from stratagem.connect.mcp.tools import TOOLS, call_tool
from stratagem.connect.outside import Outside
from stratagem.connect.session import deal_key
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.playthrough import golden
from stratagem.language.engines.base import Request
from stratagem.language.engines.remote.terms import ServerFailed
from stratagem.measure.audit.plan import plan_audit
from stratagem.players.agents import ask_question, data_of, question
from stratagem.players.base import Ask
from stratagem.players.catalogue import make_player
from stratagem.playing.store import read_episodes


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def played(*texts, opponent="random", seed=7, episodes=None, most=64, idle=100.0, clock=None):
    games = []
    for text in texts:
        game = make_game(text)
        games.append(PlayedGame(game, make_player(opponent, game) if game.spec.seats > 1 else []))
    handles = TableHandles(most, idle, clock or Clock())
    return PlayedTables(games, seed, episodes or EpisodeShelf(None), handles)


def ask(tables, tool, **arguments):
    reply = call_tool(tables, tool, arguments)
    assert not reply.is_error, reply.text
    return reply.data


def refused(tables, tool, **arguments):
    reply = call_tool(tables, tool, arguments)
    assert reply.is_error
    assert "\n" not in reply.text
    assert "Traceback" not in reply.text
    assert reply.text.endswith((".", "?"))
    return reply.text


def play_out(tables, agent, **opened):
    """Play a table to its end; return all replies about it."""
    seen = [ask(tables, "open_table", **opened)]
    while seen[-1]["state"] != "over":
        last = seen[-1]
        seen.append(ask(tables, "act", table=last["table"], question=last["question"], action=agent(last)))
    return seen


@pytest.mark.parametrize("text", ["kuhn", "leduc", "ipd(rounds=3)", "auction(seats=3, rounds=2)", "tic-tac-toe"])
def test_tables_deal_and_pay_what_play_deals_and_pays(text):
    """The agent answers what a player of ours answered in `sg.play`, at the same seats of the same deals."""
    tables, seats = played(text), make_game(text).spec.seats
    episodes = sg.play(text, "random", episodes=6 * seats, seed=7, progress=False).episodes
    for number in range(6):
        episode = next(one for one in episodes if one.id.endswith(f"/{number}.0"))
        own = iter([row.action for row in episode.decisions if row.seat == number % seats])
        last = play_out(tables, lambda seen, own=own: next(own))[-1]
        assert last["payoff"] == episode.payoffs[number % seats]
        assert last["payoffs_of_rounds"] == [payoffs[number % seats] for payoffs in episode.rounds]


@pytest.mark.parametrize("text", golden().values())
def test_every_game_is_played_to_its_end(text):
    def first(seen):
        choices = seen["choices"]
        if choices["kind"] == "sheet":
            return [slot["options"][0] for slot in choices["slots"][: choices["fill"]]]
        return choices["actions"][0] if choices["kind"] == "set" else "hello"

    tables = played(text)
    last = play_out(tables, first)[-1]
    assert ask(tables, "observe", table=last["table"]) == last
    assert ask(tables, "rules", table=last["table"])["rules"]


@pytest.mark.parametrize("text", [one for one in golden().values() if make_game(one).spec.private_information])
def test_a_reply_is_the_same_whatever_the_seat_cannot_see(text):
    """Byte for byte, over all that is redrawn of what the seat does not see."""
    game, key = make_game(text), Key(3)
    state, turn = game.start(key.at("chance")), 0
    redrawn, differ = 0, 0
    while not state.over and turn < 12:
        for seat in state.to_act:
            with contextlib.suppress(sg.StratagemError):  # a game that cannot redraw has no twin to compare
                others = [state.resample(seat, key.at("twin", turn, seat, number)) for number in range(8)]
                redrawn += 1
                views = [one.view(seat) for one in (state, *others)]
                replies = {_reply_bytes(view) for view in views}
                differ += len({repr(one.dump()) for one in (state, *others)}) > 1
                assert len(replies) == 1
                assert json.loads(replies.pop())["facts"] == json.loads(json.dumps(data_of(views[0].facts)))
        actions = {seat: state.view(seat).choices.sample(key.at("move", turn, seat)) for seat in state.to_act}
        state.play(actions)
        turn += 1
    assert (differ > 0) == (redrawn > 0)
    assert redrawn or text not in ("kuhn", "leduc", "auction"), "the card games are among those that redraw"


def _reply_bytes(view):
    reply = question_reply("handle", "number", json.loads(question(Ask(view, Key(1), 0, 0, 0, None))), ())
    return json.dumps({"text": reply.text, **reply.data}).encode()


def test_deals_that_differ_in_hidden_cards_alone_look_alike_until_they_are_paid():
    """Whole tables against an opponent whose moves do not depend on its card, up to the last reply."""
    seen = {}
    for seed in range(24):
        tables = played("kuhn(hands=1)", opponent="AlwaysBet", seed=seed)
        state = make_game("kuhn(hands=1)").start(deal_key(seed, 0).at("chance"))
        replies = []
        table = ask(tables, "open_table", seat=1)
        replies.append(call_tool(tables, "observe", {"table": table["table"]}))
        texts = [one.text.replace(table["table"], "T").replace(table["question"], "Q") for one in replies]
        data = [{**one.data, "table": "T", "question": "Q"} for one in replies]
        seen.setdefault(state.view(1).facts.card, set()).add((json.dumps([texts, data]), repr(state.dump())))
    assert set(seen) == {"J", "Q", "K"}
    for known in seen.values():
        assert len({text for text, _ in known}) == 1
        assert len({hidden for _, hidden in known}) == 2


def test_an_illegal_reply_follows_the_rule_of_the_game():
    tables = played("kuhn(hands=1)")
    opened = ask(tables, "open_table", seat=0)
    reply = call_tool(tables, "act", {"table": opened["table"], "question": opened["question"], "action": "nonsense"})
    assert "Your reply named no legal action. The default action of the game was played." in reply.text
    assert reply.data["since"]["action"] is None


def test_a_table_allows_the_retries_of_the_game():
    game = make_game("kuhn(hands=1)")
    object.__setattr__(game, "spec", replace(game.spec, retries=2))
    tables = PlayedTables(
        [PlayedGame(game, make_player("random", game))], 1, EpisodeShelf(None), TableHandles(4, 100.0)
    )
    seen = ask(tables, "open_table", seat=0)
    for attempt in (1, 2):
        reply = call_tool(tables, "act", {"table": seen["table"], "question": seen["question"], "action": "?"})
        seen = reply.data
        assert seen["attempt"] == attempt
        assert f"The last reply named no legal action. This is attempt {attempt + 1}." in reply.text
    reply = call_tool(tables, "act", {"table": seen["table"], "question": seen["question"], "action": "?"})
    assert "The default action of the game was played." in reply.text


def test_wrong_calls_are_one_sentence_and_change_nothing():
    tables = played("kuhn(hands=1)", "leduc")
    one, two = ask(tables, "open_table", game="kuhn(hands=1)"), ask(tables, "open_table", game="leduc")
    assert "Say which game" in refused(tables, "open_table")
    assert "did you mean leduc?" in refused(tables, "open_table", game="ledux")
    assert "no seat 5" in refused(tables, "open_table", game="leduc", seat=5)
    assert "no table with this handle" in refused(tables, "observe", table="guess")
    assert one["table"] not in refused(tables, "observe", table="guess")
    other = refused(tables, "act", table=one["table"], question=two["question"], action="BET")
    assert f"did not ask question {two['question']}" in other
    assert f"it asks question {one['question']} now" in other
    assert "act.question must be given" in refused(tables, "act", table=one["table"], action="BET")
    assert "65,536 characters" in refused(
        tables, "act", table=one["table"], question=one["question"], action="x" * 70_000
    )
    assert "no setting act.turn" in refused(
        tables, "act", table=one["table"], question=one["question"], action="BET", turn=1
    )
    assert "There is no tool" in refused(tables, "peek", table=one["table"])
    assert "are an object" in call_tool(tables, "act", ["BET"]).text
    assert ask(tables, "observe", table=one["table"])["question"] == one["question"]


def test_a_question_is_answered_once():
    tables = played("kuhn")
    seen = ask(tables, "open_table")
    arguments = {"table": seen["table"], "question": seen["question"], "action": seen["choices"]["actions"][0]}
    now = ask(tables, "act", **arguments)
    assert refused(tables, "act", **arguments) == (
        f"Question {seen['question']} is answered already: it asks question {now['question']} now."
    )


def test_tables_are_few_and_idle_ones_are_closed():
    clock = Clock()
    tables = played("kuhn(hands=1)", most=2, clock=clock)
    first, _ = ask(tables, "open_table"), ask(tables, "open_table")
    assert "2 tables are open" in refused(tables, "open_table")
    clock.now = 90.0
    ask(tables, "observe", table=first["table"])
    clock.now = 150.0  # the second had no call for 150 s, the first for 60 s
    third = ask(tables, "open_table")
    clock.now = 260.0
    assert "a table without a call for 100 s is closed" in refused(tables, "observe", table=first["table"])
    clock.now = 151.0
    for _ in range(3):
        play_out(tables, lambda seen: seen["choices"]["actions"][0])  # those that are over make room
    assert third["table"]


def test_handles_cannot_be_guessed_and_deals_are_dealt_once():
    tables = played("kuhn(hands=1)")
    opened = [ask(tables, "open_table") for _ in range(20)]
    assert len({one["table"] for one in opened}) == 20
    assert all(len(one["table"]) >= 22 for one in opened)
    assert [one["seat"] for one in opened] == [0, 1] * 10
    assert {*opened[0]} & {"seed", "episode", "rules"} == set(), "what says which deal it is stays on the server"


def test_finished_games_are_recorded_and_shown(tmp_path, monkeypatch, capsys):
    kept = EpisodeShelf(tmp_path / "record")
    tables = played("kuhn(hands=1)", episodes=kept)
    for _ in range(3):
        play_out(tables, Equilibrium())
    ask(tables, "open_table")  # never finished
    kept.close()
    episodes = list(read_episodes(tmp_path / "record"))
    assert [episode.group for episode in episodes] == [f"kuhn(hands=1)/7/{number}" for number in range(3)]
    monkeypatch.setattr(shelf, "SECONDS", 0.0)
    again = played("kuhn(hands=1)", episodes=EpisodeShelf(tmp_path / "record"))  # another server of the same record
    play_out(again, Equilibrium())
    assert len({episode.id for episode in read_episodes(tmp_path / "record")}) == 4
    from stratagem.cli.main import main

    with pytest.raises(SystemExit) as ended:
        main(["show", str(tmp_path / "record"), "--episode", "1"])
    assert ended.value.code == 0
    assert "external@1" in capsys.readouterr().out


def audited(agent, plan, tables, folder=None, stop=lambda number: False):
    """Carry out an audit on a thread while an agent answers; return its result, or its error, and the replies."""
    outcome = []

    def work():
        try:
            outcome.append(carry_out_audit(plan, [], folder, queue=lambda: tables, progress=False))
            tables.end("The audit is over.")
        except sg.StratagemError as error:
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    replies = answer_all(lambda tool, arguments: ask(tables, tool, **arguments), agent, stop=stop)
    if replies[-1]["state"] != "over":
        tables.leave("The agent left before the audit was over.")
    thread.join(60)
    assert not thread.is_alive()
    return outcome[0], replies


def prepared(decisions=600, games=("kuhn",), **options):
    engine = Outside("mcp:agent")
    plan = plan_audit(VisitingAgent(engine), games, decisions)
    return plan, AskedTables(
        engine, **{"planned": decisions, "timeout": 60.0, "concurrent": 1, "idle": 60.0, **options}
    )


def folding(question):
    """Pass and fold, as a function that the audit calls by itself."""
    return fold_all(question)


def test_an_audit_by_tables_equals_the_audit_of_the_same_agent():
    plan, tables = prepared(300)
    result, replies = audited(fold_all, plan, tables)
    direct = sg.audit(folding, games="kuhn", decisions=300, progress=False)
    figures, expected = result.card.by_name, direct.card.by_name
    assert figures.keys() == expected.keys()
    for name, figure in expected.items():
        assert (figures[name].value, figures[name].lower) == (figure.value, figure.lower), name
    assert figures["kuhn.exploitability"].alarm
    assert result.card.strategies.keys() == direct.card.strategies.keys()
    assert result.card.cost.decisions == replies[-1]["answered"] == direct.card.cost.decisions
    assert any("memory between questions" in note for note in result.card.notes)
    assert not any("memory between questions" in note for note in direct.card.notes)


def test_an_audit_asks_each_question_at_its_own_table():
    """Among them are episodes of one deal against two opponents, which have one name."""
    plan, tables = prepared(600)
    result, replies = audited(fold_all, plan, tables)
    asked_at = [reply["table"] for reply in replies if reply["state"] == "to act"]
    assert len({*asked_at}) == len(asked_at) == result.card.cost.decisions
    assert result.card.by_name["kuhn.payoff_strong"].value is not None


def test_an_equilibrium_is_not_found_exploitable():
    plan, tables = prepared(1200)
    result, _ = audited(Equilibrium(), plan, tables)
    figure = result.card.by_name["kuhn.exploitability"]
    assert figure.lower == 0.0
    assert not figure.alarm


def test_a_stopped_audit_goes_on_and_asks_nothing_twice(tmp_path):
    plan, tables = prepared(300)
    stopped, replies = audited(fold_all, plan, tables, tmp_path / "audit", stop=lambda number: number >= 100)
    assert isinstance(stopped, ServerFailed)
    assert str(stopped) == "The agent left before the audit was over."
    assert any("goes on with the audit" in note for note in stopped.__notes__)
    plan, again = prepared(300)
    result, later = audited(fold_all, plan, again, tmp_path / "audit")
    answered = result.card.cost.decisions
    assert replies[-1]["answered"] == 100
    assert later[-1]["answered"] == answered - 100
    direct = sg.audit(folding, games="kuhn", decisions=300, progress=False)
    assert result.card.by_name["kuhn.exploitability"].value == direct.card.by_name["kuhn.exploitability"].value
    assert (tmp_path / "audit" / "card.json").is_file()


@pytest.fixture
def questions():
    """A function from options to tables with three requests open, and their tickets."""

    def make(**options):
        engine = Outside("mcp:agent")
        tables = AskedTables(engine, **{"planned": 9, "timeout": 60.0, "concurrent": 1, "idle": 600.0, **options})
        game = make_game("kuhn(hands=1)")
        requests = []
        for number in range(3):
            state = game.start(Key(number).at("chance"))
            turn = ask_question(engine, Ask(state.view(0), Key(number), 0, 0, 0, None))
            request = next(turn)
            assert isinstance(request, Request)
            requests.append(request)
        return tables, tables.submit(requests)

    return make


def test_a_late_answer_counts_as_no_reply(questions):
    clock = Clock()
    tables, tickets = questions(timeout=5.0, clock=clock)
    clock.now = 50.0  # no time runs before the agent is told the question
    seen = ask(tables, "open_table")
    clock.now = 56.0
    (answer,) = tables.poll()
    assert answer.ticket == tickets[0]
    assert (answer.call.finish, answer.call.failed) == ("timeout", True)
    said = refused(tables, "act", table=seen["table"], question=seen["question"], action="BET")
    assert said == (f"Question {seen['question']} is closed: there was no answer within 5 s, which counts as no reply.")
    assert ask(tables, "open_table")["table"] != seen["table"]


def test_an_agent_that_stays_away_stops_the_audit(questions):
    clock = Clock()
    tables, _ = questions(idle=10.0, clock=clock)
    clock.now = 11.0
    with pytest.raises(ServerFailed, match=r"mcp:agent has not called for 10 s, so the audit stopped\."):
        tables.poll()
    assert ask(tables, "open_table")["state"] == "over"


def test_an_agent_that_only_looks_counts_as_away(questions):
    clock = Clock()
    tables, _ = questions(idle=10.0, timeout=4.0, clock=clock)
    seen = ask(tables, "open_table")
    clock.now = 5.0
    tables.poll()  # the first question is closed, and the second waits to be told
    clock.now = 9.0
    assert ask(tables, "rules", table=seen["table"])["state"] == "rules"
    assert ask(tables, "observe", table=seen["table"])["state"] == "waiting"
    clock.now = 11.0
    with pytest.raises(ServerFailed, match=r"has not called for 10 s"):
        tables.poll()


def test_no_table_opens_while_too_many_episodes_wait(tmp_path, monkeypatch):
    monkeypatch.setattr(shelf, "MOST_WAITING", 2)
    tables = played("kuhn(hands=1)", episodes=EpisodeShelf(tmp_path / "record"))
    with hold_lock(tmp_path / "record" / "lock", "it"):  # as another server does while it writes
        for _ in range(2):
            play_out(tables, Equilibrium())
        assert "No table opens: 2 episodes wait" in refused(tables, "open_table")
    play_out(tables, Equilibrium())


def test_one_question_is_told_at_a_time_or_as_many_as_allowed(questions, monkeypatch):
    tables, tickets = questions()
    first = ask(tables, "open_table")
    assert ask(tables, "open_table") == first, "an agent that lost its handle gets it again"
    second = ask(tables, "act", table=first["table"], question=first["question"], action="BET")
    assert second["table"] != first["table"]
    assert [answer.ticket for answer in tables.poll()] == [tickets[0]]
    assert refused(tables, "act", table=first["table"], question=first["question"], action="BET") == (
        f"Question {first['question']} is closed: it is answered already."
    )
    assert "did not ask the question" in refused(
        tables, "act", table=second["table"], question=first["question"][::-1], action="BET"
    )
    assert ask(tables, "observe", table=first["table"])["state"] == "waiting"
    assert ask(tables, "observe", table=second["table"])["question"] == second["question"]
    several, _ = questions(concurrent=2)
    assert len({ask(several, "open_table")["table"] for _ in range(2)}) == 2
    monkeypatch.setattr(asked, "PATIENCE", 0.05)
    assert ask(several, "open_table")["state"] == "waiting", "of several agents none gets the question of another"


def test_the_server_of_an_audit_chooses_the_game(questions):
    tables, _ = questions()
    assert "call open_table without them" in refused(tables, "open_table", game="kuhn")
    assert "one after another" in call_tool(tables, "rules", {}).text
    seen = ask(tables, "open_table")
    assert ask(tables, "rules", table=seen["table"])["rules"] == make_game("kuhn(hands=1)").rules(0)


def test_an_agent_waits_a_while_for_the_next_question(questions, monkeypatch):
    monkeypatch.setattr(asked, "PATIENCE", 0.05)
    tables, _ = questions()
    tables.cancel()
    seen = ask(tables, "open_table")
    assert seen["state"] == "waiting"
    tables.leave("The audit was stopped.")
    assert ask(tables, "open_table")["state"] == "over"
    assert tables.told_end.is_set()


def test_requests_of_other_players_go_to_their_engines(questions):
    from test_sessions import Echo

    tables, _ = questions()
    engine = Echo()
    request = replace(next(ask_question(engine, Ask(make_game("nim").start(Key(0)).view(0), Key(0), 0, 0, 0, None))))
    (ticket,) = tables.submit([request])
    (answer,) = tables.poll()
    assert answer.ticket == ticket


def test_a_defect_is_told_to_the_operator_alone():
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger("stratagem.connect.mcp.tools").addHandler(handler)

    class Broken:
        summary = ""

        def observe(self, handle):
            raise ZeroDivisionError("the secret card is K")

    try:
        reply = call_tool(Broken(), "observe", {"table": "x"})
    finally:
        logging.getLogger("stratagem.connect.mcp.tools").removeHandler(handler)
    assert reply.is_error
    assert "secret" not in reply.text
    assert "secret" in log.getvalue()


def test_every_tool_has_a_schema_that_names_its_arguments():
    for tool in TOOLS.values():
        assert tool.schema["type"] == "object"
        assert tool.schema["additionalProperties"] is False
        assert all("description" in one for one in tool.schema["properties"].values())
    assert TOOLS["act"].schema["required"] == ["table", "question", "action"]


def test_servers_need_their_package(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "stratagem.connect.mcp.server", raising=False)
    for call in (lambda: sg.serve_tables("kuhn"), lambda: sg.serve_audit("kuhn", out="x")):
        with pytest.raises(sg.StratagemError, match=r"needs an extra that is not installed: .*mcp"):
            call()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"host": "0.0.0.0"}, "needs a port"),
        ({"host": "0.0.0.0", "port": 0}, "STRATAGEM_SERVE_KEY"),
        ({"port": 99_999}, "port is a number up to"),
        ({"tables": 0}, "`tables` of at least 1"),
        ({"idle": -1.0}, "`idle`"),
        ({"seed": "x"}, "seed"),
    ],
)
def test_wrong_options_are_one_sentence(options, said, monkeypatch):
    monkeypatch.delenv("STRATAGEM_SERVE_KEY", raising=False)
    with pytest.raises(BadParameter, match=said):
        sg.serve_tables("kuhn", **options)
