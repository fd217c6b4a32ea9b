"""The shape of the house: imports point one way, and the rules of games load quickly and alone."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src" / "stratagem"
LAYERS = (
    "front",
    "errors",
    "visible",
    "files",
    "cache",
    "hosts",
    "named_files",
    "consent",
    "file_modules",
    "registry",
    "options",
    "setting_types",
    "renamed",
    "settings",
    "provenance",
    "lock",
    "garbage",
    "manifest",
    "field_notes",
    "sentences",
    "games",
    "models",
    "decoding",
    "engines",
    "prompting",
    "players",
    "play",
    "workers",
    "demonstrations",
    "learning",
    "evaluation",
    "show",
    "runs",
    "league",
    "training",
    "algorithms",
    "reports",
    "sweeps",
    "reproduction",
    "auditing",
    "endpoint",
    "viewer",
    "integrations",
    "api",
    "cli",
    "__main__",
)
"""From the ground up: a layer may import itself and those before it."""
MODULES = sorted(path.relative_to(SRC) for path in SRC.rglob("*.py"))
OUTSIDE = {
    "front": set(),
    "errors": set(),
    "visible": set(),
    "hosts": set(),
    "named_files": set(),
    "consent": set(),
    "file_modules": set(),
    "registry": set(),
    "options": set(),
    "provenance": set(),
    "renamed": {"pydantic"},
    "cache": set(),
    "files": set(),
    "lock": set(),
    "garbage": set(),
    "manifest": set(),
    "field_notes": set(),
    "sentences": set(),
    "games": {"pyspiel", "diplomacy", "numba", "numpy"},
    "decoding": set(),
    "players": {"pyspiel", "open_spiel", "numpy"},
}
"""Packages that the lower layers may load; higher ones may load any."""


def layer_of(path):
    return path.parts[0].removesuffix(".py")


def imports(tree):
    """Every module that a file imports, wherever in the file; what only the type checker reads is included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def wrong_way(path, source):
    """The imports of a file that point upwards."""
    own = LAYERS.index(layer_of(path))
    inside = [name.split(".") for name in imports(ast.parse(source)) if name.split(".")[0] == "stratagem"]
    return [".".join(name) for name in inside if len(name) > 1 and name[1] in LAYERS[own + 1 :]]


@pytest.mark.parametrize("path", [path for path in MODULES if path.parts[0] != "__init__.py"], ids=str)
def test_imports_point_one_way(path):
    assert layer_of(path) in LAYERS, f"say where {layer_of(path)} stands in LAYERS"
    assert wrong_way(path, (SRC / path).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("games/x.py", "from stratagem.players.base import Ask", ["stratagem.players.base.Ask"]),
        ("games/x.py", "def f():\n    import stratagem.play.table", ["stratagem.play.table"]),
        ("games/x.py", "from stratagem import players", ["stratagem.players"]),
        ("errors.py", "from stratagem.registry import Call", ["stratagem.registry.Call"]),
        ("players/x.py", "from stratagem.games.base import View\nfrom stratagem.errors import BadRecord", []),
        ("cli/main.py", "from stratagem import __version__", []),
    ],
)
def test_an_import_upwards_is_noticed(path, source, found):
    assert wrong_way(Path(path), source) == found


@pytest.mark.parametrize("path", [path for path in MODULES if layer_of(path) in OUTSIDE], ids=str)
def test_the_lower_layers_rest_on_little(path):
    tops = {name.split(".")[0] for name in imports(ast.parse((SRC / path).read_text(encoding="utf-8")))}
    foreign = tops - set(sys.stdlib_module_names) - {"stratagem"}
    assert foreign <= OUTSIDE[layer_of(path)]


CHANGING = ("stratagem.algorithms", "stratagem.learning")
"""Packages that the move to one training loop changes now; they are held to this too when it is done."""


def module_name(path):
    parts = ("stratagem", *path.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_graph():
    """By module, the modules that it imports anywhere in its file."""
    files = {module_name(path): path for path in MODULES}
    graph = {}
    for name, path in files.items():
        found = imports(ast.parse((SRC / path).read_text(encoding="utf-8")))
        graph[name] = {one if one in files else one.rpartition(".")[0] for one in found} & files.keys() - {name}
    return graph


def circles(graph):
    """The modules that reach themselves."""
    left, before = dict(graph), -1
    while len(left) != before:  # what imports nothing that is left is in no circle, nor what nothing left imports
        before = len(left)
        imported = set().union(*left.values()) if left else set()
        left = {name: found & left.keys() for name, found in left.items() if found & left.keys() and name in imported}
    return left


def test_no_modules_import_each_other_in_a_circle():
    """Imports for the type checker count too."""
    graph = {name: found for name, found in import_graph().items() if not name.startswith(CHANGING)}
    assert circles(graph) == {}


def test_a_circle_of_imports_is_noticed():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}
    assert circles(graph) == {"b": {"c"}, "c": {"b"}}
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {}


def engine_classes(tree):
    """Names of the classes of a file that answer requests themselves; protocols only say what engines do."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and "Protocol" not in {getattr(base, "id", "") for base in node.bases}:
            methods = {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)}
            named = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
            bases = {getattr(base, "id", "") for base in named}
            answers = {"begin", "follow", "score"} <= methods or ("score" in methods and "LocalEngine" in bases)
            if answers or bases & {"CopyEngine", "RemoteEngine"}:
                yield node.name


def names_of_engines(path, source, classes, modules):
    """Classes and modules of engines that a file outside of `engines` names, in imports, code or strings."""
    if layer_of(path) == "engines":
        return []
    imported = {name for name in imports(ast.parse(source)) if name.startswith(tuple(modules))}
    return sorted(imported | {name for name in classes if re.search(rf"\b{name}\b", source)})


def all_engines():
    """Classes of engines, and the modules that they are in."""
    found = {}
    for path in MODULES:
        if layer_of(path) == "engines":
            tree = ast.parse((SRC / path).read_text(encoding="utf-8"))
            found |= dict.fromkeys(engine_classes(tree), module_name(path))
    return found


def test_no_module_outside_of_engines_names_a_class_of_engine():
    found = all_engines()
    local = {"TransformersEngine", "CopyEngine", "VLLMEngine", "VLLMServerEngine"}
    engines = local | {"RemoteEngine", "OpenAIEngine", "AgentEngine"}
    assert found.keys() == engines, "say here what engines there are"
    for path in MODULES:
        assert names_of_engines(path, (SRC / path).read_text(encoding="utf-8"), found, found.values()) == [], path


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("training/x.py", "from a.b import c\nc.MyEngine(1)", ["MyEngine"]),
        ("training/x.py", 'def f(engine: "MyEngine"): ...', ["MyEngine"]),
        ("players/x.py", "import stratagem.engines.mine", ["stratagem.engines.mine"]),
        ("players/x.py", "from stratagem.engines.mine import SIZE", ["stratagem.engines.mine.SIZE"]),
        ("players/x.py", "from stratagem.engines import mine", ["stratagem.engines.mine"]),
        ("engines/x.py", "from stratagem.engines.mine import MyEngine", []),
        ("training/x.py", "from stratagem.engines.base import TrainableEngine\nNotMyEngines = 1", []),
    ],
)
def test_an_engine_that_is_named_elsewhere_is_noticed(path, source, found):
    assert names_of_engines(Path(path), source, {"MyEngine"}, {"stratagem.engines.mine"}) == found


def test_nothing_is_called_utils():
    assert [path for path in SRC.rglob("*") if path.stem in ("utils", "util", "helpers", "common", "misc")] == []


def loaded(*modules):
    """Return the modules that a fresh interpreter has loaded after importing these."""
    program = f"import {', '.join(modules)}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in run.stdout.split()}


@pytest.mark.parametrize(
    "modules",
    [
        ("stratagem.games",),
        ("stratagem.games.conformance", "stratagem.games.playthrough"),
        ("stratagem.players.catalogue",),
    ],
    ids=str,
)
def test_rules_and_players_load_alone(modules):
    heavy = {"torch", "transformers", "numpy", "scipy", "pyspiel", "pyarrow", "pydantic", "typer", "open_spiel"}
    assert loaded(*modules) & heavy == set()


def test_the_rules_load_quickly():
    program = "import time\nstart = time.process_time()\nimport stratagem.games\nprint(time.process_time() - start)"
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True) for _ in range(3)
    ]
    best = min(float(run.stdout) for run in runs)
    print(f"import stratagem.games: {best:.3f} s of processor time")  # noqa: T201 - the figure is what a reader wants
    assert best < 1.0
