"""Runs over one another, populations, notes, and the table of runs, as data."""

import json
import math
import re
import shutil
from pathlib import Path

import pytest
from page_client import ask
from shown_folder import HOSTILE, Parrot, add_step, episodes_of, write_run
from starlette.testclient import TestClient

import stratagem
from stratagem.api.tournaments import tournament
from stratagem.measure.recorded import RecordReading, figures_of_record
from stratagem.measure.statistics import with_interval
from stratagem.playing.store import read_episodes, write_shard
from stratagem.show.viewer.app import Viewer
from stratagem.show.viewer.crossplay import MOST
from stratagem.show.viewer.overlay import MOST as MOST_RUNS
from stratagem.show.viewer.runs import run_row
from stratagem.show.viewer.studio import Studio
from stratagem.training.runs.folder import RunFolder

OWN = {"origin": "http://127.0.0.1:8150"}


@pytest.fixture
def client(folder):
    return TestClient(Viewer(Studio(folder)).application(), base_url="http://127.0.0.1:8150")


def note(client, status=200, **body):
    answer = client.post("/api/do/note", json=body, headers=OWN)
    assert answer.status_code == status, answer.text
    return answer.json()


def overlaid(client, *names, status=200):
    return ask(client, "overlay", status, runs=json.dumps(names))


def test_runs_of_one_recipe_are_one_band_with_the_interval_of_their_mean(folder, client):
    write_run(folder / "runs" / "second", seed=4)
    write_run(folder / "runs" / "other", seed=3, batch=2)
    rows = [0.5, 0.3]
    (folder / "runs" / "second" / "metrics.jsonl").write_text(
        "".join(
            json.dumps({"step": step, "kuhn/exact/exploitability": value}) + "\n" for step, value in enumerate(rows)
        )
    )
    data = overlaid(client, "runs/first", "runs/second", "runs/other")
    assert (data["differing"], data["partial"]) == (["seed"], ["batch"])
    assert [band["runs"] for band in data["bands"]] == [["runs/first", "runs/second"], ["runs/other"]]
    assert [band["label"] for band in data["bands"]] == [{"batch": None}, {"batch": "2"}]
    mean = data["bands"][0]["means"]["kuhn/exact/exploitability"]
    assert (mean["steps"], mean["n"]) == ([0, 1], 2)
    expected = with_interval([0.25, 0.3])
    assert mean["mean"][1] == pytest.approx(expected.mean)
    assert (mean["low"][1], mean["high"][1]) == pytest.approx((expected.low, expected.high))
    assert data["bands"][1]["means"] == {}
    assert data["main"] == ["kuhn/exact/exploitability"]
    assert next(metric for metric in data["metrics"] if metric["name"] in data["main"])["unit"] == "chips a hand"


def test_first_settings_of_a_label_tell_the_bands_apart(folder, client):
    values = {"one": (1, 1, 1, 1, 1), "two": (1, 1, 1, 1, 2), "three": (2, 2, 2, 2, 2)}
    for name, row in values.items():
        write_run(folder / "runs" / name, seed=3)
        text = "".join(f"{key} = {value}\n" for key, value in zip("abcde", row, strict=True))
        (folder / "runs" / name / "config.toml").write_text(text)
    bands = overlaid(client, *(f"runs/{name}" for name in values))["bands"]
    assert [list(band["label"].items())[:2] for band in bands] == [
        [("a", "1"), ("e", "1")], [("a", "1"), ("e", "2")], [("a", "2"), ("e", "2")],
    ]  # fmt: skip


def test_overlay_refuses_what_are_no_runs(client):
    assert "no run" in overlaid(client, "elsewhere", status=404)["error"]
    assert "JSON list" in ask(client, "overlay", 400, runs="runs/first")["error"]
    assert str(MOST_RUNS) in overlaid(client, status=400)["error"]
    assert "lacks `runs`" in ask(client, "overlay", 400)["error"]
    assert "no run" in overlaid(client, "../../etc", status=404)["error"]


def test_damaged_run_does_not_hide_the_others(folder, client):
    write_run(folder / "runs" / "second")
    (folder / "runs" / "second" / "run.json").write_text("{")
    data = overlaid(client, "runs/first", "runs/second")
    assert [run["name"] for run in data["runs"]] == ["runs/first"]
    assert "run.json" in data["broken"]["runs/second"]


def test_note_is_kept_beside_the_run_and_removed_when_it_is_empty(folder, client):
    file = folder / "runs" / "first" / "view.json"
    assert note(client, run="runs/first", note=f" {HOSTILE} ", tags=["a  b", "", "a b", "kuhn"]) == {
        "note": HOSTILE,
        "tags": ["a b", "kuhn"],
    }
    (row,) = ask(client, "library")["runs"]
    assert (row["note"], row["tags"]) == (HOSTILE, ["a b", "kuhn"])
    file.write_text("[1]")
    assert ask(client, "library")["runs"][0]["note"] == ""
    note(client, run="runs/first")
    assert not file.exists()


def test_note_goes_to_known_runs_only_and_is_not_long(client):
    assert "no run" in note(client, 404, run="../elsewhere", note="x")["error"]
    assert "note" in note(client, 400, run="runs/first", note="x" * 5000)["error"]
    assert "tags" in note(client, 400, run="runs/first", tags=["x"] * 50)["error"]
    assert client.post("/api/do/note", json={"run": "runs/first"}).status_code == 403


def test_row_of_a_run_is_read_again_when_it_goes_on(folder, client):
    (row,) = ask(client, "library")["runs"]
    (figure,) = row["figures"]
    assert (figure["name"], figure["better"], figure["start"], figure["last"]) == (
        "exploitability", "lower", 0.5, 0.1,
    )  # fmt: skip
    add_step(folder / "runs" / "first", 9)
    (again,) = ask(client, "library")["runs"]
    assert again["figures"][0]["last"] == 0.05
    assert again["changed"] >= row["changed"] > 0


def test_the_policy_to_look_at_first_is_that_of_the_best_checkpoint(tmp_path):
    demo = Path(stratagem.__file__).parent / "demo" / "kuhn-demo"
    shutil.copytree(demo, tmp_path / "run", ignore=shutil.ignore_patterns("record", "base", "checkpoints"))
    models = json.loads((demo / "models.json").read_text())
    run = RunFolder(tmp_path / "run")
    for best, shown in ((550, 50), (545, 60)):
        adapter = f"checkpoints/step-{best:06}/adapters/policy"
        models["models"]["best"]["adapter"] = adapter
        models["models"][str(best)] = models["models"]["best"]
        (run.path / "models.json").write_text(json.dumps(models))
        assert run_row("run", run)["policy"] == {"game": "kuhn", "step": shown}, best


def test_cross_play_of_a_record_agrees_with_its_evaluation(folder, client):
    players = ["kuhn/NashApprox@1", "kuhn/AlwaysBet@1"]
    write_shard(folder / "met", 0, episodes_of("kuhn", ["NashApprox", "AlwaysBet"], 8))
    data = ask(client, "population", kind="record", name="met", game="kuhn")
    (result,) = figures_of_record(read_episodes(folder / "met"), RecordReading(crossed=True))
    for row in result.rows:
        (matchup,) = row.matchups
        place, other = players if row.player == "kuhn/NashApprox" else players[::-1]
        cell = data["payoff"][data["players"].index(place)][data["players"].index(other)]
        payoff = matchup.payoff(scaled=False)
        assert (cell["mean"], cell["n"]) == (pytest.approx(payoff.mean), payoff.n)
        assert cell["se"] == pytest.approx(payoff.se)
    assert data["unit"] == "chips a hand"
    assert data["null"] == 0.0
    assert {one["name"] for one in data["ratings"]} == set(players)
    assert math.fsum(one["elo"] for one in data["ratings"]) == pytest.approx(3000.0)


def test_cell_leads_to_the_games_of_its_pair(folder, client):
    write_shard(folder / "games", 2, episodes_of("kuhn", ["NashApprox", "NashApprox"], 2, name="self"))
    data = ask(client, "population", kind="record", name="games", game="kuhn")
    row, column = data["players"].index(Parrot.recorded), data["players"].index("kuhn/NashApprox@1")
    assert data["met"][row][column] == data["met"][column][column] == "games"
    assert data["met"][row][row] is None
    for first, second, found in ((row, column, 6), (column, column, 2)):
        query = {"player": data["recorded"][first], "opponent": data["recorded"][second]}
        assert ask(client, "episodes", record=data["met"][first][second], **query)["found"] == found


def test_tournament_file_is_a_population_whose_games_are_found(folder, client):
    played = tournament("kuhn", ["NashApprox", "random"], episodes=4, record=folder / "cup" / "record")
    played.save(folder / "cup" / "kuhn.json")
    found = [one for one in ask(client, "populations")["populations"] if one["kind"] == "tournament"]
    assert found == [{"kind": "tournament", "name": "cup/kuhn.json", "game": "kuhn", "players": 2}]
    data = ask(client, "population", kind="tournament", name="cup/kuhn.json")
    first = played.to_json()["players"].index(data["players"][0])
    assert data["payoff"][0][0]["mean"] == played.to_json()["payoff"][first][first]["mean"]
    assert data["met"][0][1] == "cup/record"
    query = {"player": data["recorded"][0], "opponent": data["recorded"][1]}
    assert ask(client, "episodes", record="cup/record", **query)["found"] > 0


def test_files_that_are_no_tournaments_are_left_out(folder, client):
    (folder / "a.json").write_text('{"mean_against_others": [], "players": ["x"], "payoff": []}')
    (folder / "b.json").write_text('"mean_against_others"')
    (folder / "c.json").write_text("[" * 100_000 + '"mean_against_others"')
    assert not [one for one in ask(client, "populations")["populations"] if one["kind"] == "tournament"]
    assert "no tournament" in ask(client, "population", 400, kind="tournament", name="a.json")["error"]
    assert "tournament" in ask(client, "population", 404, kind="tournament", name="../x.json")["error"]
    assert "population" in ask(client, "population", 404, kind="x", name="a")["error"]
    assert "league" in ask(client, "population", 400, kind="league", name="runs/first")["error"]


def test_matrix_has_the_players_with_the_most_games(folder, client):
    rows = episodes_of("kuhn(hands=1)", ["random", "NashApprox"], MOST + 5, name="many")
    for number, episode in enumerate(rows):
        episode.players = tuple(f"p{number}@1" if name == "random@1" else name for name in episode.players)
    write_shard(folder / "many", 0, rows)
    data = ask(client, "population", kind="record", name="many", game="kuhn(hands=1)")
    assert (len(data["players"]), data["left_out"]) == (MOST, len(rows) + 1 - MOST)
    assert "kuhn/NashApprox@1" in data["players"]


def test_first_page_asks_for_every_module_at_once(client):
    text = client.get("/").text
    named = re.findall(r'modulepreload" href="/static/([\w-]+\.js)"', text)
    assert {"data.js", "runs_table.js", "plot.js", "plot_marks.js"} <= set(named)
    assert len(named) == len(set(named))
    for name in [*named, "main.js"]:
        imports = re.findall(r"^import .*? from '\./([\w-]+\.js)'", client.get(f"/static/{name}").text, re.MULTILINE)
        assert set(imports) <= set(named), name


@pytest.mark.parametrize(
    ("metric", "unit"),
    [
        ("kuhn/validation/payoff", "points a round, common scale"),
        ("kuhn/validation/length", "turns an episode"),
        ("kuhn/validation/illegal", "share of turns"),
        ("kuhn/validation/win_rate", "share of episodes"),
        ("ipd/validation/nra", "ratio"),
        ("ipd/validation/nra-of-sums", "ratio"),
        ("diplomacy/validation/peace", "relative reduction of attacks"),
        ("kuhn/illegal_rate", "share of replies"),
        ("kuhn/exact/exploitability", "chips a hand"),
        ("kuhn/validation/unheard_of", "points a round, common scale"),
    ],
)
def test_curve_has_the_unit_of_its_metric(client, folder, metric, unit):
    with (folder / "runs" / "first" / "metrics.jsonl").open("a") as file:
        file.write(json.dumps({"step": 9, metric: 0.5}) + "\n")
    assert ask(client, "run", name="runs/first")["curves"][metric]["unit"] == unit


def test_reward_of_a_learner_of_a_league_has_the_unit_of_the_game(client, folder):
    """It is not scaled, and stands beside validation figures that are."""
    run = folder / "runs" / "first"
    with (run / "config.toml").open("a") as file:
        file.write("games = ['kuhn(hands=1)']\n[learners.main]\nrole = 'main'\n")
    with (run / "metrics.jsonl").open("a") as file:
        file.write(json.dumps({"step": 9, "main/payoff": -0.5, "kuhn/validation/payoff": -0.3}) + "\n")
    curves = ask(client, "run", name="runs/first")["curves"]
    assert curves["main/payoff"]["unit"] == "chips a hand"
    assert curves["kuhn/validation/payoff"]["unit"] == "points a round, common scale"
