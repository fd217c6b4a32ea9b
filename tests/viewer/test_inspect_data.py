"""The data of the pages of policies and decisions: figures, searches, and bad input."""

import json
import math
import shutil

import pytest
from page_client import ask
from shown_folder import Parrot, branch_of, episodes_of
from starlette.testclient import TestClient

from stratagem.base.errors import StratagemError
from stratagem.games.catalogue import make_game
from stratagem.games.disguise.proof import every_state
from stratagem.measure.audit.card import AuditCost, Card
from stratagem.measure.audit.measurement import Measurement
from stratagem.measure.exploitability.exact import exact
from stratagem.players.catalogue import make_player
from stratagem.playing.forks import steps
from stratagem.playing.store import read_episodes, write_shard
from stratagem.show.viewer.app import Viewer
from stratagem.show.viewer.checks.adapters import equal_weights
from stratagem.show.viewer.decision_regrets import table_of_regrets as regret_table
from stratagem.show.viewer.model_policies import ask_policy, question_of
from stratagem.show.viewer.prompts import lines_of_prompt
from stratagem.show.viewer.studio import Studio


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspected")
    write_shard(folder / "games", 0, episodes_of("kuhn", [Parrot(), "NashApprox"], 12))
    later = episodes_of("ipd(rounds=4)", ["TitForTat", "AlwaysDefect"], 3, name="later")
    later[0].decisions[0].advantage = 0.25
    write_shard(folder / "games", 1, later)
    write_shard(folder / "games", 2, episodes_of("tic-tac-toe", ["random", "random"], 3, name="ttt"))
    return folder


@pytest.fixture(scope="module")
def client(root):
    return TestClient(Viewer(Studio(root)).application(), base_url="http://127.0.0.1:8150")


def places(client, **query):
    data = ask(client, "decisions", record="games", limit=500, **query)
    assert data["found"] == len(data["decisions"])
    return [(row["episode"], row["place"], row["seat"], row["attempt"]) for row in data["decisions"]]


def expected(root, passes):
    """Search one by one: the keys of the decisions that pass, with the position in the replay."""
    found = []
    for episode in read_episodes(root / "games"):
        turns = list(dict.fromkeys(row.turn for row in episode.decisions))
        found += [
            (episode.id, turns.index(row.turn) + 1, row.seat, row.attempt)
            for row in episode.decisions
            if passes(episode, row)
        ]
    return found


def likely(row):
    return math.exp(sum(row.calls[-1].sampler_logprobs)) if row.calls else math.inf


def outcome(episode, row):
    own = episode.payoffs[row.seat]
    other = max(pay for seat, pay in enumerate(episode.payoffs) if seat != row.seat)
    return "won" if own > other else "lost" if own < other else "drawn"


def signal(episode, row):
    return episode.signals["collusion"][row.round][row.seat] or 0.0 if "collusion" in episode.signals else 0.0


@pytest.mark.parametrize(
    ("query", "passes"),
    [
        ({}, lambda episode, row: True),
        ({"player": Parrot.recorded}, lambda episode, row: episode.players[row.seat] == Parrot.recorded),
        ({"game": "tic-tac-toe"}, lambda episode, row: episode.game == "tic-tac-toe"),
        ({"illegal": "1"}, lambda episode, row: row.action is None),
        ({"how": "constrained"}, lambda episode, row: row.how == "constrained"),
        ({"outcome": "won"}, lambda episode, row: outcome(episode, row) == "won"),
        ({"outcome": "drawn"}, lambda episode, row: outcome(episode, row) == "drawn"),
        ({"surprise": "0.1"}, lambda episode, row: likely(row) <= 0.1),
        ({"signal": "collusion"}, lambda episode, row: signal(episode, row) != 0.0),
        ({"step": "1"}, lambda episode, row: episode.id.startswith("later")),
        ({"player": "nobody"}, lambda episode, row: False),
    ],
)  # fmt: skip
def test_search_agrees_with_the_record(client, root, query, passes):
    assert places(client, **query) == expected(root, passes)


def test_signal_of_a_branch_is_that_of_its_own_round(tmp_path):
    parent, branch = branch_of("ipd(rounds=6)", 3)
    write_shard(tmp_path / "games", 0, [parent, branch])
    client = TestClient(Viewer(Studio(tmp_path)).application(), base_url="http://127.0.0.1:8150")
    found = {(episode, seat, place) for episode, place, seat, _ in places(client, signal="collusion")}
    defected = {
        (episode.id, row.seat, place)
        for episode in (parent, branch)
        for place, turn in enumerate(dict.fromkeys(row.turn for row in episode.decisions), 1)
        for row in episode.decisions
        if row.turn == turn and row.action == "DEFECT"
    }
    assert found == defected


def test_regret_agrees_with_the_solver_and_with_known_values(client, root):
    game = make_game("tic-tac-toe")
    from stratagem.games.solver import solve

    lost = {
        (episode.id, rows[0].turn + 1): (max(values.values()) - values[rows[0].action])
        for episode in read_episodes(root / "games", [2])
        for state, rows in steps(episode)
        if rows and (values := solve(game).action_values(state))
    }
    data = ask(client, "decisions", record="games", game="tic-tac-toe", order="regret", limit=500)["decisions"]
    assert {(row["episode"], row["place"]): row["regret"] for row in data} == lost
    assert [row["regret"] for row in data] == sorted(lost.values(), reverse=True)
    jack = ask(client, "decisions", record="games", game="kuhn", regret="0.9", limit=500)
    assert jack["decisions"]
    assert all(row["action"] in ("CALL", "FOLD") for row in jack["decisions"]), "a call with J, a fold with K"
    assert "constant-sum games" in jack["why_no_regret"]


def test_regrets_in_a_game_of_dice_are_those_that_the_moves_left_do_not_change():
    from stratagem.games.solver import solve

    text = "spiel:pig(players=2,winscore=4,diceoutcomes=2,horizon=6)"
    game, found = make_game(text), regret_table(text).regrets
    by_key = {}
    for state in every_state(game, 20_000):
        values, key = solve(game).action_values(state), state.view(state.to_act[0]).state_key
        regrets = {action: max(values.values()) - value for action, value in values.items()}
        by_key.setdefault(key, []).append(regrets)
    alike = {key: some[0] for key, some in by_key.items() if all(one == some[0] for one in some)}
    assert found == {(-1, key, action): regret for key, some in alike.items() for action, regret in some.items()}
    assert 0 < len(alike) < len(by_key)
    assert max(found.values()) > 0.0


def test_pages_and_orders_of_decisions(client):
    every = ask(client, "decisions", record="games", limit=500)["decisions"]
    parts = [ask(client, "decisions", record="games", offset=at, limit=100)["decisions"] for at in range(0, 500, 100)]
    assert [row for part in parts for row in part] == every
    assert ask(client, "decisions", record="games", order="newest", limit=1)["decisions"][0] == every[-1]
    rare = ask(client, "decisions", record="games", order="surprise", limit=500)["decisions"]
    assert [row["probability"] for row in rare] == sorted(row["probability"] for row in rare)
    assert [row["advantage"] for row in every if row["advantage"] is not None] == [0.25]


def test_search_follows_the_files(root, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(root, folder)
    client = TestClient(Viewer(Studio(folder)).application(), base_url="http://localhost")
    before = len(places(client))
    more = episodes_of("kuhn", ["random", "random"], 2, name="new")
    write_shard(folder / "games", 3, more)
    assert len(places(client)) == before + sum(len(episode.decisions) for episode in more)


def test_exploitability_of_a_page_is_the_exact_one(client):
    game = make_game("kuhn")
    page = ask(client, "regrets", game="kuhn", player="Bluffer", limit=100)
    assert page["exploitability"] == pytest.approx(exact(game, make_player("Bluffer", game)).exploitability)
    assert sum(row["regret"] for row in page["sets"]) == pytest.approx(page["exploitability"])
    assert len(page["sets"]) == page["total"] == 12
    assert "alpha" in page["equilibrium"]
    worst = ask(client, "regrets", game="kuhn", player="Bluffer")["sets"]
    assert len(worst) == 10
    assert [row["regret"] for row in worst] == sorted((row["regret"] for row in worst), reverse=True)


def test_recorded_replies_are_a_policy(client):
    page = ask(client, "regrets", record="games", game="kuhn", player="kuhn/NashApprox@1", limit=100)
    decisions = ask(client, "decisions", record="games", game="kuhn", player="kuhn/NashApprox@1")["found"]
    assert page["replies"] == decisions == sum(row["replies"] for row in page["sets"])
    first = next(row for row in page["sets"] if row["info_key"] == "K:P")
    assert first["policy"] == [0.0, 1.0], "after a pass it always bets with the highest card"
    parrot = ask(client, "regrets", record="games", game="kuhn", player=Parrot.recorded, limit=100)
    illegal = ask(client, "decisions", record="games", illegal="1", limit=1)["found"]
    assert illegal > 0
    assert parrot["replies"] == ask(client, "decisions", record="games", player=Parrot.recorded)["found"]
    assert next(row for row in parrot["sets"] if row["info_key"] == "Q:")["policy"][0] == 1.0, "the default is to pass"


def test_policy_of_a_run_is_read_by_step(client, root):
    run = root / "run"
    (run / "policies").mkdir(parents=True, exist_ok=True)
    (run / "run.json").write_text(
        json.dumps({"seed": 0, "command": "x", "begun": "2026-01-01T00:00:00+00:00", "commit": None, "dirty": None,
                    "made_by": {}})
    )  # fmt: skip
    game = make_game("kuhn(hands=1)")
    from stratagem.measure.openings import opening_policy

    policy = opening_policy(game, make_player("AlwaysBet", game))
    policy["J:"] = {"PASS": 0.0, "BET": 0.75}  # one in four replies is illegal, and counts as a pass
    (run / "policies" / "kuhn-000003.json").write_text(
        json.dumps({"step": 3, "game": "kuhn(hands=1)", "policy": policy})
    )
    assert ask(client, "subjects")["runs"] == [{"run": "run", "game": "kuhn(hands=1)", "steps": [3]}]
    page = ask(client, "regrets", run="run", game="kuhn(hands=1)", step="3", limit=100)
    assert next(row for row in page["sets"] if row["info_key"] == "J:")["policy"] == [0.25, 0.75]
    assert "step" in ask(client, "regrets", 404, run="run", game="kuhn(hands=1)", step="4")["error"]
    assert "step" in ask(client, "regrets", 404, run="run", game="ipd", step="3")["error"]


def test_policy_of_a_job_is_kept_and_belongs_to_its_game(client, tmp_path, monkeypatch):
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path))
    answer = ask_policy(question_of("kuhn", " Bluffer ", 0), None)
    page = ask(client, "regrets", game="kuhn", computed=answer["computed"], limit=100)
    assert page["sets"] == ask(client, "regrets", game="kuhn", player="Bluffer", limit=100)["sets"]
    assert page["title"] == "kuhn/Bluffer"
    assert "another game" in ask(client, "regrets", 400, game="ipd(rounds=2)", computed=answer["computed"])["error"]
    for name in ("../../x", "0" * 20, "x"):
        assert "computed policy" in ask(client, "regrets", 404, game="kuhn", computed=name)["error"]
    monkeypatch.setattr("stratagem.show.viewer.model_policies.policy_on", lambda tree, player: 1 / 0)
    assert ask_policy(question_of("kuhn", "Bluffer", 0), None) == answer, "it is not computed again"
    with pytest.raises(StratagemError, match="cannot state its probabilities"):
        ask_policy(question_of("kuhn", "mcts:10", 0), None)


def test_a_model_is_asked_after_its_price_is_accepted(tmp_path, monkeypatch):
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path))
    monkeypatch.setattr("stratagem.show.viewer.model_policies.calls_models", lambda player: True)
    priced = ask_policy(question_of("kuhn", "Bluffer", 11), None)
    assert priced.price["calls"] == 12
    assert ask_policy(question_of("kuhn", "Bluffer", 12), None)["computed"]


def test_record_of_an_audit_has_the_limits_of_its_card(root, client):
    folder = root / "audit" / "records" / "kuhn-replies"
    write_shard(folder, 0, episodes_of("kuhn(hands=1)", ["Bluffer", "NashApprox"], 20))
    figure = Measurement(name="kuhn.exploitability", group="exploitability", value=0.4, lower=0.3, upper=0.5, n=40,
                    episode="game/0.0", record="records/kuhn-replies")  # fmt: skip
    card = Card("kuhn/Bluffer", ("kuhn",), 40, 0, (figure,), {}, {}, AuditCost(), {})
    (root / "audit" / "card.json").write_text(json.dumps(card.to_json()))
    query = {"record": "audit/records/kuhn-replies", "game": "kuhn(hands=1)"}
    audit = ask(client, "regrets", **query, player="kuhn/Bluffer@1")["audit"]
    assert (audit["value"], audit["lower"], audit["upper"], audit["episode"]) == (0.4, 0.3, 0.5, "game/0.0")
    assert ask(client, "regrets", **query, player="kuhn/NashApprox@1")["audit"] is None
    (root / "audit" / "card.json").write_text("{")
    assert ask(client, "regrets", **query, player="kuhn/Bluffer@1")["audit"] is None


def test_exploiting_line_plays_the_best_response_from_its_set_on(client):
    page = ask(client, "regrets", game="kuhn", player="AlwaysBet")
    for row in page["sets"]:
        if row["reach"] == 0.0:
            continue
        line = ask(client, "line", game="kuhn", player="AlwaysBet", set=row["number"])
        played = [one for turn in line["turns"] for one in turn["decisions"]]
        met = next(one for one in played if one["seat"] == row["seat"] and one["state_key"] == row["info_key"])
        assert met["action"] == row["actions"][row["answer"]]
        assert line["players"][row["seat"]] == f"best response from {row['info_key']} on"
        assert len(line["frames"]) == len(line["turns"]) + 1


@pytest.mark.parametrize(
    ("page", "query", "status", "sentence"),
    [
        ("decisions", {}, 400, "lacks `record`"),
        ("decisions", {"record": "../games"}, 404, "There is no record"),
        ("decisions", {"record": "games", "surprise": "much"}, 400, "`surprise` is a number"),
        ("decisions", {"record": "games", "regret": "-1"}, 400, "`regret` is a number"),
        ("decisions", {"record": "games", "regret": "nan"}, 400, "`regret` is a number"),
        ("decisions", {"record": "games", "step": "x"}, 400, "`step` is a number"),
        ("decisions", {"record": "games", "order": "size"}, 400, "`order` is one of record"),
        ("decisions", {"record": "games", "outcome": "size"}, 404, "There is no outcome"),
        ("regrets", {}, 400, "lacks `game`"),
        ("regrets", {"game": "nothing"}, 404, "There is no game"),
        ("regrets", {"game": "kuhn", "player": "cmd:touch /tmp/x"}, 404, "There is no player"),
        ("regrets", {"game": "kuhn", "player": "other.py:Bold"}, 404, "There is no player"),
        ("regrets", {"game": "kuhn", "player": "tiny"}, 404, "There is no player"),
        ("regrets", {"game": "kuhn", "player": "first-legal", "order": "size"}, 400, "`order` is one of regret"),
        ("regrets", {"game": "kuhn", "record": "games", "player": "nobody"}, 400, "has no decision of 'nobody'"),
        ("regrets", {"game": "kuhn", "run": "none", "step": "1"}, 404, "There is no run"),
        ("regrets", {"game": "tic-tac-toe", "player": "random"}, 400, "The tree of tic-tac-toe has about"),
        ("line", {"game": "kuhn", "player": "first-legal", "set": "12"}, 400, "`set` is a number from 0 to 11"),
        ("checks", {"record": "none"}, 404, "There is no record"),
    ],
)
def test_bad_input_is_one_sentence(client, page, query, status, sentence):
    told = ask(client, page, status, **query)["error"]
    assert sentence in told
    assert "\n" not in told


def test_a_record_with_seats_that_are_not_there_is_one_sentence(tmp_path):
    episodes = episodes_of("kuhn", ["random", "random"], 1)
    episodes[0].decisions[0].seat = 7
    write_shard(tmp_path, 0, episodes)
    client = TestClient(Viewer(Studio(tmp_path)).application(), base_url="http://localhost")
    assert "decisions of seats" in ask(client, "decisions", 400, record=".")["error"]


def test_weights_that_stay_are_told(tmp_path):
    for step, digest in ((2, "a"), (4, "b"), (6, "a")):
        folder = tmp_path / f"step-{step:06d}"
        folder.mkdir()
        files = {"policy/adapter_model.safetensors": [9, digest], "state.safetensors": [9, "same"], "x.json": [1, "x"]}
        (folder / "manifest.json").write_text(json.dumps({"files": files}))
    assert equal_weights(tmp_path) == ["policy/adapter_model.safetensors is the same in step-000002 and step-000006."]
    files["other/adapter_model.safetensors"] = [9, "c"]
    (tmp_path / "step-000006" / "manifest.json").write_text(json.dumps({"files": files}))
    assert equal_weights(tmp_path) == [], "others may stay as they are on purpose"
    (tmp_path / "step-000006" / "manifest.json").write_text("{")
    assert equal_weights(tmp_path) == []


def test_a_game_without_constant_sum_has_no_equilibrium_and_says_so(client):
    page = ask(client, "regrets", game="ipd(rounds=2)", player="random")
    assert page["equilibrium"] is None
    assert "cfr finds equilibria of two-player constant-sum games" in page["why_no_equilibrium"]
    assert page["exploitability"] > 0.0
    assert page["sets"][0]["leak"] is None


@pytest.mark.parametrize(
    ("said", "cut"),
    [
        ("Card K.\nYou open.\nReply.", ""),
        ("Card K.\nYou op", "Reply."),
        ("Card K.\nYou open.\nRep", "Reply."),
        ("rd Q.\nYou open.\nReply.", ""),
        ("Something else.", ""),
    ],
)
def test_prompt_is_cut_where_it_breaks_off_before_the_end_of_others(said, cut):
    whole = [(("user", f"Card {card}.\nYou open.\nReply."),) for card in "JQKA"]
    assert lines_of_prompt([*whole, (("user", said),)]).cut((("user", said),)) == cut
