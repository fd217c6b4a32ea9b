"""`import stratagem`: light, typed, and alike for names and objects; mistakes are one sentence."""

import ast
import inspect
import json
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import stratagem as sg
from stratagem.api import FUNCTIONS, load_function
from stratagem.api.parameters import explained_parameters
from stratagem.base.consent.table import commanding
from stratagem.cli.main import main
from stratagem.games.kuhn import Kuhn
from stratagem.language.engines.remote.budget import current_budget
from stratagem.language.engines.remote.terms import current
from stratagem.players.uniform import Random

EXAMPLES = Path(__file__).parents[2] / "examples"
ROOT = Path(sg.__file__).parent
STUB = ROOT / "__init__.pyi"


def test_import_loads_no_library_and_no_other_module_of_ours():
    program = "import sys; before = set(sys.modules); import stratagem; print(*set(sys.modules) - before)"
    path = {"PYTHONPATH": str(ROOT.parent)}
    run = subprocess.run([sys.executable, "-S", "-c", program], env=path, capture_output=True, text=True, check=False)
    loaded = set(run.stdout.split())
    assert {name for name in loaded if name.split(".")[0] not in sys.stdlib_module_names} == {
        "stratagem",
        "stratagem.api",
        "stratagem.base",
        "stratagem.base.moved",
    }, run.stderr


def test_stub_names_each_function_by_its_module():
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    found = {alias.name: node.module for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert found.pop("StratagemError") == "stratagem.base.errors"
    assert found == {name: f"stratagem.api.{module}" for name, module in FUNCTIONS.items()}
    assert all(alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names)
    (named,) = (ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))
    assert set(named) == set(sg.__all__) <= set(dir(sg))


def test_functions_have_types_and_docstrings():
    for name in FUNCTIONS:
        function = load_function(name)
        signature = inspect.signature(getattr(sg, name))
        assert signature == inspect.signature(function)
        assert signature.return_annotation is not signature.empty
        assert all(p.annotation is not p.empty for p in signature.parameters.values())
        assert function.__doc__
        assert function.__name__ == name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_explained_once_and_alike_where_it_means_the_same(name):
    told = {one.name: one.explanation for one in explained_parameters(load_function(name))}
    named = {n for n, one in inspect.signature(load_function(name)).parameters.items() if one.kind != one.VAR_KEYWORD}
    assert set(told) >= named
    assert all(text.endswith(".") for parameter, text in told.items() if parameter in named), told
    shared = ("seed", "engine", "workers", "ray", "resume", "allow", "any_tree")
    measured = {one.name: one.explanation for one in explained_parameters(sg.evaluate)}
    measured |= {
        one.name: one.explanation for one in explained_parameters(sg.sweep) if one.name in ("allow", "any_tree")
    }
    assert all(told[n] == measured[n] for n in shared if n in told and (name, n) != ("train", "resume"))


def test_no_function_has_the_name_of_a_package():
    assert not [name for name in FUNCTIONS if (ROOT / name).is_dir()]
    assert type(sg) is type(ast)
    with pytest.raises(AttributeError, match="no attribute 'plays'"):
        sg.plays  # noqa: B018


KUHN = Kuhn()
ALIKE = [
    (sg.play, ("random",), (Random(),), {"episodes": 4}),
    (sg.play, (["NashApprox", "random"],), ([sg.player("NashApprox", KUHN), Random()],), {"episodes": 3, "seed": 2}),
    (
        sg.evaluate,
        (["NashApprox", "random"],),
        ((sg.player("NashApprox", KUHN), Random()),),
        {"episodes": 2, "chance": False, "metrics": ["length"]},
    ),
    (sg.exploitability, ("random",), (Random(),), {}),
    (sg.tournament, (["random", "NashApprox"],), ([Random(), sg.player("NashApprox", KUHN)],), {"episodes": 2}),
    (sg.verify, (), (), {"episodes": 2}),
]


@pytest.mark.parametrize(("function", "names", "objects", "options"), ALIKE)
def test_names_and_objects_are_alike(function, names, objects, options):
    by_name, by_object = function("kuhn", *names, **options), function(KUHN, *objects, **options)
    assert by_name.to_json() == by_object.to_json()
    assert repr(by_name) == repr(by_object)


def test_numbers_of_numpy_are_numbers():
    told = [sg.play("kuhn", "random", episodes=count, seed=seed) for count, seed in ((3, 2), np.array([3, 2]))]
    assert repr(told[0]) == repr(told[1])
    assert sg.game("kuhn", hands=np.int64(4)) == sg.game("kuhn", hands=4)


def test_opponents_and_games_of_a_suite_may_be_objects():
    def figures(game, opponents):
        return repr(sg.evaluate(game, "first-legal", opponents=opponents, episodes=4, progress=False).rows())

    ours = sg.game("ipd", rounds=3)
    assert figures("ipd(rounds=3)", ["TitForTat"]) == figures(ours, [sg.player("TitForTat", ours)])


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (
            ("play", "kuhn", "--players", "NashApprox", "random", "--episodes", "200"),
            lambda: sg.play("kuhn", ["NashApprox", "random"], episodes=200),
        ),
        (
            ("eval", "kuhn", "--player", "mcts:5", "--episodes", "2", "--seed", "1", "--opponents", "random"),
            lambda: sg.evaluate("kuhn", "mcts:5", episodes=2, seed=1, opponents=["random"]),
        ),
        (
            ("tournament", "ipd", "--players", "Joss", "random", "--episodes", "4", "--no-chance"),
            lambda: sg.tournament("ipd", ["Joss", "random"], episodes=4, chance=False),
        ),
        (("verify-game", "prisoners-dilemma", "--episodes", "3"), lambda: sg.verify("prisoners-dilemma", episodes=3)),
    ],
    ids=lambda one: one[0] if isinstance(one, tuple) else "",
)
def test_command_prints_what_the_function_returns(words, call, capsys):
    with pytest.raises(SystemExit) as end:
        main([*words, "--json"])
    assert end.value.code == 0
    printed = json.loads(capsys.readouterr().out)
    returned = json.loads(json.dumps(call().to_json()).replace("NaN", "null"))
    assert printed == returned


def test_a_file_that_the_caller_names_is_loaded_and_that_of_a_record_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "goods", raising=False)
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    mine.mkdir()
    shutil.copy(EXAMPLES / "threshold_goods.py", mine / "goods.py")
    monkeypatch.chdir(mine)
    with commanding():
        played = sg.play("goods.py:ThresholdGoods", "random", record="kept")
        assert played.episodes[0].game == "goods.py:ThresholdGoods"
    shutil.copytree(mine, theirs)
    monkeypatch.chdir(theirs)
    with commanding():
        record = sg.read_record("kept")
        with pytest.raises(sg.StratagemError, match=r"or add `sg\.allow"):
            record.evaluate()


def test_a_file_of_a_record_is_loaded_once_it_is_allowed(tmp_path, monkeypatch):
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path / "cache"))
    with commanding():
        sg.allow(EXAMPLES / "threshold_goods.py")
        assert sg.game("threshold_goods.py:ThresholdGoods").spec.name == "threshold-goods"


def test_servers_are_asked_on_other_terms_within():
    before = current()
    with sg.servers(timeout=3, tries=2, concurrency=4, max_failures=0.5, budget="5calls") as budget:
        now = current()
        assert (now.patience.timeout, now.patience.tries, now.max_concurrent, now.max_failures) == (3, 2, 4, 0.5)
        assert (budget is current_budget(), budget.amount, budget.unit, budget.spent) == (True, 5, "calls", 0)
        with sg.servers(tries=3):
            assert (current().patience.timeout, current().patience.tries) == (3, 3)
    assert (current(), current_budget()) == (before, None)


IPD = sg.game("ipd")
MISTAKES = [
    (lambda: sg.game(3), "A game is a name such as `kuhn` or `spiel:kuhn_poker`, or a `stratagem.games.Game`, not"),
    (lambda: sg.game("kuhnn"), "did you mean kuhn"),
    (lambda: sg.game("ipd", turns=3), "it has no option turns"),
    (lambda: sg.game(KUHN, hands=3), "Parameters go with the bare name"),
    (lambda: sg.play(Kuhn, "random"), "not the class Kuhn itself: make one, as in Kuhn()."),
    (lambda: sg.play("kuhn", ["random"] * 3), "takes 2 players, not 3"),
    (lambda: sg.play("kuhn", []), "There is no player: give at least one"),
    (lambda: sg.play("kuhn", [Random, "random"]), "not the class Random itself"),
    (lambda: sg.play("kuhn", [{"name": "random"}, "random"]), "or a Player, not dict"),
    (lambda: sg.play("kuhn", sg.player("TitForTat", IPD)), "ipd/TitForTat plays ipd"),
    (lambda: sg.play("kuhn", "random", episodes=0), "`episodes` of at least 1"),
    (lambda: sg.play("kuhn", "random", episodes=10**20), f"`episodes` of at most {sys.maxsize}, not 1000000000"),
    (lambda: sg.play("kuhn", "random", episodes=np.float64(3)), "a whole number, not"),
    (lambda: sg.play("kuhn", "random", seed=True), "A seed is a whole number, not True."),
    (lambda: sg.play("kuhn", "random", seed="x"), "A seed is a whole number, not 'x'."),
    (lambda: sg.evaluate("kuhn", None), "or a Player, not NoneType"),
    (lambda: sg.evaluate("kuhn", "random", episodes="3"), "a whole number, not '3'"),
    (lambda: sg.evaluate("kuhn", "random", metrics=["pool_advantag"]), "did you mean pool_advantage"),
    (lambda: sg.evaluate("sepoo", "random"), "did you mean sepo"),
    (lambda: sg.exploitability("kuhn", "mcts:5"), "cannot state its probabilities"),
    (lambda: sg.tournament("kuhn", "random", chance=False), "at least two players"),
    (lambda: sg.evaluate("kuhn", "random", exploit_by="learn"), "say `exploitability=`, which takes search, learn or"),
    (lambda: sg.evaluate("kuhn", "random", exact_budget=3), "say `exploitability='exact'` with `effort=`"),
    (lambda: sg.exploitability("kuhn", "random", policy_replies=9), "say `how='replies'` with `effort=`"),
    (lambda: sg.evaluate("kuhn", "random", exploitability="search(deals=1)"), "needs `deals` of at least 2"),
    (lambda: sg.evaluate("kuhn", "random", exploitability="search", effort=0), "evaluate needs `effort` of at least 1"),
    (lambda: sg.evaluate("kuhn", "random", disguise=0), "`disguise=` needs a number of disguises"),
    (lambda: sg.evaluate("kuhn", "random", resume=True), "name its folder with `record=`"),
    (lambda: sg.train("sepo/kuhn-tiny", force=True), "`force=True` continues a started run: add `resume=True`."),
    (lambda: sg.train("sepo/kuhn-tiny", allow="a b"), "'a b' can be no host"),
    (lambda: sg.dry_run("sepo/kuhn-tiny", decode_speed="x"), "dry_run needs `decode_speed` of at least 0"),
    (lambda: sg.servers(tries=0), "servers needs `tries` of at least 1"),
    (lambda: sg.servers(timeout=0), "servers needs `timeout` of at least 0.001"),
    (lambda: sg.servers(budget=5), "A budget is a text such as 2000calls or 5usd, not int."),
    (lambda: sg.servers(budget="much"), "A budget is an amount and its unit"),
    (lambda: sg.allow(3), "A permission is a path, a command `cmd:...`, or a host, not int."),
    (lambda: sg.load_run("/nowhere"), "There is no run at /nowhere"),
    (lambda: sg.load_run(3), "A run is the path of its folder, or a Run, not int."),
    (lambda: sg.read_record("/nowhere"), "no recorded episodes in /nowhere"),
    (lambda: sg.train("sepo/kuhn-tinny"), "did you mean sepo/kuhn-tiny"),
    (lambda: sg.read_record(3), "A record is given by its path, not int."),
    (lambda: sg.play("kuhn", "random", record=3), "A record is given by its path, not int."),
    (lambda: sg.play("kuhn", "random", record=""), "The path of the record is empty: name one."),
    (lambda: sg.play("kuhn", "random", keep=-1), "`keep` of at least 0"),
    (lambda: sg.evaluate("kuhn", "random", metrics=[3]), "A metric is given by its name, not int."),
    (lambda: sg.evaluate("kuhn", "random", disguise=[1]), "A disguise is a number of disguises, or a file, not list."),
    (lambda: sg.evaluate("kuhn", "random", workers="x"), "`workers` of at least 1, a whole number, not 'x'"),
    (lambda: sg.exploitability("kuhn", "random", effort="x"), "`effort` of at least 2"),
    (lambda: sg.train("sepo/kuhn-tiny", out=3), "A run is given by its path, not int."),
    (lambda: sg.train("sepo/kuhn-tiny", changes=3), "an entry of a mapping"),
    (lambda: sg.train("sepo/kuhn-tiny", changes={3: 1}), "A place of a setting is a text"),
    (lambda: sg.train([]), "There is no recipe"),
    (lambda: sg.train(3), "A recipe is a path or the name of a shipped one"),
    (lambda: sg.train("sepo/kuhn-tiny", changes={"sepo.x": 3}, out="/nowhere"), "There is no setting sepo.x"),
    (lambda: sg.train("sepo/kuhn-tiny", changes={"seed": object()}, out="/nowhere"), "seed"),
]


@pytest.mark.parametrize(("call", "sentence"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistake_is_one_sentence_without_the_errors_behind_it(call, sentence):
    with pytest.raises(sg.StratagemError) as caught:
        call()
    error = caught.value
    assert sentence in str(error)
    assert (error.__cause__, error.__suppress_context__) == (None, True)
    frames = traceback.extract_tb(error.__traceback__)
    assert {Path(frame.filename).name for frame in frames} <= {Path(__file__).name, "mistakes.py"}


def test_modules_of_games_are_found_without_an_import_of_their_own():
    """As the pages name `stratagem.games.disguise.by_hand`; in a process where nothing has imported them."""
    program = (
        "import stratagem\n"
        "print(stratagem.games.disguise.by_hand.__name__, stratagem.games.talk.Language.__name__)\n"
        "print('Key' in dir(stratagem.games), hasattr(stratagem.games, 'nothing'))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["by_hand", "Language", "True", "False"]
