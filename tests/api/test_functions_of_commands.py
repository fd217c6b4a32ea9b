"""Functions behind the commands: each command calls one, prints what it returns, and adds nothing of its own."""

import json
import shutil
import sys

import pytest

import stratagem as sg
from stratagem.api import FUNCTIONS
from stratagem.cli.commands import COMMANDS, function_named
from stratagem.cli.main import main
from stratagem.players.uniform import Random


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two records, an audit and the figures of an evaluation."""
    place = tmp_path_factory.mktemp("functions")
    for game in ("tic-tac-toe", "nim"):
        sg.play(game, "random", episodes=6, record=place / game, progress=False)
    sg.audit("TightPassive", games="kuhn", decisions=300, out=place / "audit-0", progress=False)
    shutil.copytree(place / "audit-0", place / "audit-1")
    sg.evaluate("kuhn", "random", episodes=2).save(place / "kuhn.json")
    return place


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_calls_a_function_of_the_package_or_says_why_not(command):
    """The functions that a command calls are public, and what is written by hand says why no function is behind it."""
    row = COMMANDS[command]
    called = [row.function, *(function for function, _ in row.instead.values())]
    public = {f"{module}:{name}" for name, module in FUNCTIONS.items()} | {"records:evaluate_record"}
    by_hand = {"watch", "show", "trust"}
    assert (command in by_hand) != (set(called) <= public)
    assert "`sg." in sys.modules[function_named(row.function).__module__].__doc__ or command not in by_hand


RING = "talk(auction(seats=3, rounds=1, price=second), before=round)"
CALLS = {
    "games": (("games",), lambda at: sg.list_games()),
    "game": (("games", "ipd(rounds=3)"), lambda at: sg.list_games(sg.game("ipd", rounds=3))),
    "players": (("players", "kuhn"), lambda at: sg.list_players("kuhn")),
    "engines": (("engines",), lambda at: sg.list_engines()),
    "recipes": (("recipes", "tiny"), lambda at: sg.list_recipes("tiny")),
    "runs": (("runs", "{at}"), lambda at: sg.list_runs(at)),
    "prompt": (
        ("prompt", "kuhn", "--style", "gtbench", "--disguised-as", "3", "--seed", "2"),
        lambda at: sg.prompt(sg.game("kuhn"), "gtbench", disguised_as=3, seed=2),
    ),
    "talk": (
        ("talk", "talk(kuhn(hands=1), before=round, intents=[state])", "liar(NashApprox)", "believer(NashApprox)"),
        lambda at: sg.talk(
            "talk(kuhn(hands=1), before=round, intents=[state])", "liar(NashApprox)", "believer(NashApprox)"
        ),
    ),
    "collusion": (
        ("collusion", RING, "ring(Truthful)", "ring(Truthful, partner=0)", "Truthful", "--deals", "4"),
        lambda at: sg.collusion(RING, "ring(Truthful)", "ring(Truthful, partner=0)", "Truthful", deals=4),
    ),
    "compare": (
        ("compare", "{at}/audit-0", "{at}/audit-1"),
        lambda at: sg.compare_audits(at / "audit-0", at / "audit-1"),
    ),
    "leaderboard": (
        ("leaderboard", "{at}/audit-0", "{at}/audit-1"),
        lambda at: sg.rank_audits([at / "audit-0", at / "audit-1"]),
    ),
    "audit": (
        ("audit", "TightPassive", "--games", "kuhn", "--decisions", "300", "--dry-run"),
        lambda at: sg.plan_audit("TightPassive", games="kuhn", decisions=300),
    ),
    "steps": (
        ("steps", "{at}/nim", "{at}/tic-tac-toe", "--out", "{at}/steps.parquet"),
        lambda at: sg.steps([sg.read_record(at / "nim"), at / "tic-tac-toe"]),
    ),
    "report": (("report", "{at}/nim", "--out", "{at}/page.html"), lambda at: sg.report(at / "nim", at / "page.html")),
}


def count_cells(html: str) -> int:
    """Count the cells of all rows, the first of which names its row."""
    return html.count("<td") + html.count('scope="row"')


@pytest.mark.parametrize("name", CALLS)
def test_command_prints_the_result_of_its_function(name, folder, capsys):
    words, call = CALLS[name]
    with pytest.raises(SystemExit) as end:
        main([*(word.format(at=folder) for word in words), "--json"])
    assert end.value.code == 0
    result = call(folder)
    returned = json.loads(json.dumps(result.to_json()))
    assert json.loads(capsys.readouterr().out) == returned
    shown, html = repr(result), result._repr_html_()
    assert all(table.title in shown for table in result.main_tables())
    assert count_cells(html) == sum(len(row.values) for table in result.main_tables() for row in table.rows)
    assert html.count("white-space: pre-line") == len(result.legend(result.main_tables())) + len(result.remarks())
    assert json.loads(result.save(folder / "saved.json").read_text()) == returned
    assert all(len(row.values) == len(table.columns) for table in result.tables() for row in table.rows)
    assert isinstance(result.rows(), list)


def test_demonstrations_are_written_and_listed(tmp_path):
    made = sg.data("sepo", tmp_path / "sets", sets="kuhn", scale=0.002, progress=False)
    assert json.loads((tmp_path / "sets" / "manifest.json").read_text()) == made.to_json()
    (row,) = made.rows()
    assert (row["set"], row["game"], row["train"] + row["validation"]) == ("kuhn", "kuhn", 16)
    assert "manifest.json lists the files" in repr(made)
    with pytest.raises(sg.StratagemError, match="already holds files: choose another folder"):
        sg.data("sepo", tmp_path / "sets")


def test_steps_are_saved_as_a_recipe_reads_them(folder, tmp_path):
    from stratagem.algorithms.scopal.steps import read_steps

    found = sg.steps(folder / "nim")
    assert read_steps(found.save(tmp_path / "steps.parquet")).rows.equals(found.steps.rows)
    with pytest.raises(sg.StratagemError, match="is there already: name another file"):
        sg.steps(folder / "nim", tmp_path / "steps.parquet")


def test_the_card_of_an_audit_is_saved_in_four_forms(folder, tmp_path):
    found = sg.audit("TightPassive", games="kuhn", decisions=300, out=folder / "audit-0", progress=False)
    for name in ("card.html", "junit.xml", "card.md"):
        assert found.save(tmp_path / name).read_text() == (folder / "audit-0" / name).read_text()
    assert json.loads(found.save(tmp_path / "card.json").read_text())["agent"] == "kuhn/TightPassive"
    assert "To exploit it in kuhn:" in repr(found)


def test_figures_in_no_folder_are_reported_as_those_in_a_file(folder, tmp_path):
    stored = sg.report(folder / "kuhn.json", tmp_path / "one.html")
    held = sg.report(sg.evaluate("kuhn", "random", episodes=2), tmp_path / "two.html")
    assert held.summary == stored.summary
    assert "NashConv" in held.path.read_text() or "exploitability" in held.path.read_text()
    matrix = sg.tournament("kuhn", ["random", "NashApprox"], episodes=2)
    assert sg.report(matrix, tmp_path / "three.html").summary["kind"] == "tournament"
    with pytest.raises(sg.StratagemError, match=r'`out="page.html"`'):
        sg.report(matrix)


def test_an_episode_is_told_as_the_command_tells_it(folder, capsys):
    record = sg.read_record(folder / "nim")
    with pytest.raises(SystemExit):
        main(["show", str(folder / "nim"), "--episode", "2"])
    assert capsys.readouterr().out.split() == record.transcript(2).split()
    assert repr(record.transcript(2)) == record.transcript(2)
    assert record.transcript(2)._repr_html_().startswith("<pre>")
    assert record.episode(record.episodes[1].id) is record.episode("2") is record.episodes[1]


def test_pages_are_open_until_they_are_closed(folder):
    from urllib.request import HTTPCookieProcessor, build_opener

    with sg.view(folder, port=0) as pages, build_opener(HTTPCookieProcessor()).open(pages.url) as answer:
        assert answer.status == 200
    assert str(pages) == f"{folder} at {pages.url}"


def bet(question):
    """Answer the questions of an agent."""
    return "BET" if "BET" in question["choices"]["actions"] else "CALL"


def test_a_function_is_a_player_wherever_a_player_is_expected():
    played = sg.play("kuhn", [bet, "random"], episodes=2, progress=False)
    assert played.players == (f"{__name__}.bet@1", "random@1")
    assert sum(row["illegal_turns"] for row in played.rows()) == 0
    found = sg.evaluate("kuhn", bet, opponents=[bet], episodes=2, chance=False, progress=False)
    assert found.results[0].rows[0].player == f"{__name__}.bet"
    exact = sg.exploitability("kuhn", "AlwaysBet")
    sampled = sg.exploitability("kuhn", bet, effort=2)
    assert sampled.found.estimate.low <= float(exact) <= sampled.found.estimate.high
    with pytest.raises(sg.StratagemError, match="not the class Random itself"):
        sg.play("kuhn", Random)


MISTAKES = [
    (lambda at: sg.list_games(3), "such as `kuhn` or `spiel:kuhn_poker`, or a `stratagem.games.Game`, not int."),
    (lambda at: sg.list_games("khun"), "did you mean kuhn"),
    (lambda at: sg.play("ipd", ["Grim", "random"]), "write grim(PLAYER) with the name of one; ipd has a player Grim"),
    (lambda at: sg.list_players("khun"), "did you mean kuhn"),
    (lambda at: sg.list_players(object), "or a `stratagem.games.Game`, not the class object itself"),
    (lambda at: sg.list_recipes(3), "A word of a recipe is a text, not int."),
    (lambda at: sg.list_recipes("nothing at all"), "No recipe has 'nothing at all'"),
    (lambda at: sg.list_runs(3), "A folder is given by its path, not int."),
    (lambda at: sg.list_runs("/nowhere"), "There is no folder /nowhere"),
    (lambda at: sg.list_runs(at).plot("loss"), "There is no metric of these runs called 'loss'"),
    (lambda at: sg.prompt("kuhn", 3), "A prompt style is a name such as `plain`, or a Style, not int."),
    (lambda at: sg.prompt("kuhn", "plane"), "did you mean plain"),
    (lambda at: sg.prompt("kuhn", turns=0), "prompt needs `turns` of at least 1"),
    (lambda at: sg.prompt("kuhn", model=3), "A model is given by its name, not int."),
    (lambda at: sg.prompt("kuhn", model="tinny"), "There is no model called 'tinny'"),
    (lambda at: sg.prompt("kuhn", disguised_as=[1]), "A disguise is its seed, or a file, not list."),
    (lambda at: sg.data("sepoo", at / "x"), "There is no algorithm with data sets called 'sepoo'"),
    (lambda at: sg.data("sepo", 3), "A folder is given by its path, not int."),
    (lambda at: sg.data("sepo", at / "x", sets="kunh"), "There is no demonstration set called 'kunh'"),
    (lambda at: sg.data("sepo", at / "x", scale="x"), "`scale`"),
    (lambda at: sg.data(3, at / "x"), "An algorithm is given by its name, not int."),
    (lambda at: sg.play("kuhn", "random", engine=3), "An engine is a text such as `transformers(rows=16)`, not int."),
    (lambda at: sg.exploitability("kuhn", "random", effort="x"), "exploitability needs `effort`"),
    (lambda at: sg.steps("/nowhere"), "no recorded episodes in /nowhere"),
    (lambda at: sg.steps(at / "nim", step_reward=3), "An advantage estimator is given by its name, not int."),
    (lambda at: sg.steps(at / "nim", step_reward="winrate"), "did you mean step_win_rate"),
    (lambda at: sg.steps([]), "There is no record: give at least one"),
    (lambda at: sg.report(3), "A report is made of a run, a record, an evaluation or a tournament"),
    (lambda at: sg.report("/nowhere"), "There is no run at /nowhere"),
    (lambda at: sg.sweep("/nowhere.toml"), "The sweep /nowhere.toml cannot be read"),
    (lambda at: sg.sweep(3), "A sweep is given by its path, not int."),
    (lambda at: sg.sweep("x.toml", allow="a b"), "'a b' can be no host"),
    (lambda at: sg.view("/nowhere", port=0), "/nowhere"),
    (lambda at: sg.view(at, port=-1), "view needs `port` of at least 0"),
    (lambda at: sg.plan_audit("random", games=[]), "There is no game: give at least one"),
    (lambda at: sg.plan_audit("random", fail_if=[3]), "A condition is given by its name, not int."),
    (lambda at: sg.plan_audit(3), "A player is a name such as"),
    (lambda at: sg.audit("random", decisions="x"), "`decisions` of at least 1"),
    (lambda at: sg.compare_audits(at / "audit-0", 3), "An audit is given by its path, not int."),
    (lambda at: sg.rank_audits([]), "There is no audit: give at least one"),
    (lambda at: sg.rank_audits([at / "audit-0"] * 2, "kuhn.exploit"), "did you mean kuhn.exploitability"),
    (lambda at: sg.rank_audits([at / "audit-0"] * 2, 3), "A figure is given by its name, not int."),
    (lambda at: sg.read_record(at / "nim").episode(99), "There is no episode called '99'"),
    (lambda at: sg.read_record(at / "nim").transcript("x"), "There is no episode called 'x'"),
    (lambda at: sg.read_record(at / "nim").write_files(at / "new"), "nim has no files of its own"),
]


def test_parameter_without_a_value_is_explained():
    assert "None takes that of the draw" in " ".join(repr(sg.list_games("drawn(seed=3)")).split())


@pytest.mark.parametrize(("call", "sentence"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistake_of_a_caller_is_one_sentence(call, sentence, folder):
    with pytest.raises(sg.StratagemError) as caught:
        call(folder)
    assert sentence in str(caught.value)
    assert caught.value.__suppress_context__
