"""The shape of the house: imports point one way, and the rules of games load quickly and alone."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tested_with_vllm import statements

SRC = Path(__file__).parent.parent / "src" / "stratagem"
LAYERS = (
    "base.errors",
    "base.extras",
    "base.visible",
    "base.files",
    "base.cache",
    "base.hosts",
    "base.named_files",
    "base.consent",
    "base.file_modules",
    "base.registry",
    "base.options",
    "base.setting_types",
    "base.renamed",
    "base.moved",
    "base.settings",
    "base.named",
    "base.provenance",
    "base.lock",
    "base.garbage",
    "base.manifest",
    "base.field_notes",
    "base.sentences",
    "base.number_texts",
    "games",
    "verifier",
    "language.decoding",
    "language.models",
    "language.engines",
    "language.prompting",
    "players",
    "playing",
    "playing.workers",
    "learn.demonstrations",
    "learn",
    "measure",
    "measure.audit",
    "measure.logs",
    "training.runs",
    "training",
    "algorithms",
    "sweeps",
    "sweeps.reproduction",
    "show",
    "show.reports",
    "show.audit",
    "show.web",
    "show.viewer",
    "connect",
    "connect.endpoint",
    "connect.logs",
    "api",
    "testing",
    "cli",
    "__main__",
)
"""From the ground up: a storey, or a room in it; each may import itself and those before it."""
STOREYS = tuple(dict.fromkeys(layer.partition(".")[0] for layer in LAYERS))
MODULES = sorted(path.relative_to(SRC) for path in SRC.rglob("*.py"))
OUTSIDE = {
    **{layer: set() for layer in LAYERS if layer.startswith("base.")},
    "base.named": {"pydantic"},
    "base.renamed": {"pydantic"},
    "base.setting_types": {"pydantic"},
    "base.settings": {"pydantic", "pydantic_core"},
    "games": {"pyspiel", "diplomacy", "numba", "numpy"},
    "verifier": {"numpy", "pyarrow", "scipy"},
    "language.decoding": set(),
    "players": {"pyspiel", "open_spiel", "numpy"},
}
"""Packages that the lower layers may load; higher ones may load any."""


PARTS = {"players": "players", "demonstrations": "learn.demonstrations", "face": "show.viewer"}
"""Rooms of the parts of a game in its package, by the first word of the file; all other files are rules and safety."""


def layer_of(path):
    """Return the room of a file, or its storey where it is in none."""
    parts = path.with_suffix("").parts
    if len(parts) > 2 and parts[0] == "games" and parts[1] != "spiel":
        part = parts[2].partition("_")[0]
        return PARTS.get(part, "games")
    room = ".".join(parts[:2])
    return room if room in LAYERS else parts[0]


@cache
def nodes(source):
    """Imports and classes of a file, wherever in it: every file is asked for in several tests."""
    kinds = ast.Import | ast.ImportFrom | ast.ClassDef
    return [node for node in statements(source) if isinstance(node, kinds)]


@cache
def source_of(path):
    return (SRC / path).read_text(encoding="utf-8")


def imports(source):
    """Every module that a file imports, wherever in the file; what only the type checker reads is included."""
    for node in nodes(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def wrong_way(path, source):
    """The imports of a file that point upwards."""
    own = LAYERS.index(layer_of(path))
    inside = [name.split(".") for name in imports(source) if name.split(".")[0] == "stratagem"]
    return [".".join(name) for name in inside if len(name) > 1 and _rank(name[1:]) > own]


def _rank(name):
    """Return the place of an imported module; that of a storey alone is its lowest room."""
    layer = layer_of(Path(*name))
    storey = [place for place, other in enumerate(LAYERS) if other.partition(".")[0] == layer]
    return LAYERS.index(layer) if layer in LAYERS else min(storey, default=-1)


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in MODULES
        if path.name != "__init__.py" or path.parent not in (Path(), Path("base"), Path("language"))
    ],
    ids=str,
)
def test_imports_point_one_way(path):
    assert layer_of(path) in LAYERS, f"say where {layer_of(path)} stands in LAYERS"
    assert wrong_way(path, source_of(path)) == []


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("games/x.py", "from stratagem.players.base import Ask", ["stratagem.players.base.Ask"]),
        ("games/x.py", "def f():\n    import stratagem.playing.table", ["stratagem.playing.table"]),
        ("games/x.py", "from stratagem import players", ["stratagem.players"]),
        ("games/x/rules.py", "from stratagem.games.x.players import P", ["stratagem.games.x.players.P"]),
        ("games/x/safety.py", "from stratagem.games.x import players_old", ["stratagem.games.x.players_old"]),
        ("games/x/__init__.py", "from stratagem.games.x.face import F", ["stratagem.games.x.face.F"]),
        ("games/x/players.py", "import stratagem.games.x.demonstrations", ["stratagem.games.x.demonstrations"]),
        ("games/x/players_old.py", "from stratagem.players.base import A\nfrom stratagem.games.x.rules import R", []),
        ("players/x.py", "from stratagem.games.x.face import F", ["stratagem.games.x.face.F"]),
        ("games/x/face.py", "from stratagem.show.viewer.faces.base import F", []),
        ("base/errors.py", "from stratagem.base.registry import NamedCall", ["stratagem.base.registry.NamedCall"]),
        ("players/x.py", "from stratagem.games.base import View\nfrom stratagem.base.errors import BadRecord", []),
        ("cli/main.py", "from stratagem import __version__", []),
    ],
)
def test_an_import_upwards_is_noticed(path, source, found):
    assert wrong_way(Path(path), source) == found


@pytest.mark.parametrize("path", [path for path in MODULES if layer_of(path) in OUTSIDE], ids=str)
def test_the_lower_layers_rest_on_little(path):
    tops = {name.split(".")[0] for name in imports(source_of(path))}
    foreign = tops - set(sys.stdlib_module_names) - {"stratagem"}
    assert foreign <= OUTSIDE[layer_of(path)]


def module_name(path):
    parts = ("stratagem", *path.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_graph():
    """By module, the modules that it imports anywhere in its file."""
    files = {module_name(path): path for path in MODULES}
    graph = {}
    for name, path in files.items():
        found = imports(source_of(path))
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
    assert circles(import_graph()) == {}


def test_a_circle_of_imports_is_noticed():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}
    assert circles(graph) == {"b": {"c"}, "c": {"b"}}
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {}


def engine_classes(source):
    """Names of the classes of a file that answer requests themselves; protocols only say what engines do."""
    for node in nodes(source):
        if isinstance(node, ast.ClassDef) and "Protocol" not in {getattr(base, "id", "") for base in node.bases}:
            methods = {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)}
            named = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
            bases = {getattr(base, "id", "") for base in named}
            answers = {"begin", "follow", "score"} <= methods or ("score" in methods and "LocalEngine" in bases)
            if answers or bases & {"CopyEngine", "RemoteEngine"}:
                yield node.name


def names_of_engines(path, source, classes, modules):
    """Classes and modules of engines that a file outside of `engines` names, in imports, code or strings."""
    if layer_of(path) == "language.engines":
        return []
    imported = {name for name in imports(source) if name.startswith(tuple(modules))}
    return sorted(imported | {*re.findall(rf"\b(?:{'|'.join(classes)})\b", source)})


def all_engines():
    """Classes of engines, and the modules that they are in."""
    found = {}
    for path in MODULES:
        if layer_of(path) == "language.engines":
            source = source_of(path)
            found |= dict.fromkeys(engine_classes(source), module_name(path))
    return found


def test_no_module_outside_of_engines_names_a_class_of_engine():
    found = all_engines()
    local = {"TransformersEngine", "CopyEngine", "VLLMEngine", "VLLMServerEngine"}
    engines = local | {"RemoteEngine", "OpenAIEngine", "AgentEngine"}
    assert found.keys() == engines, "say here what engines there are"
    for path in MODULES:
        assert names_of_engines(path, source_of(path), found, found.values()) == [], path


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("training/x.py", "from a.b import c\nc.MyEngine(1)", ["MyEngine"]),
        ("training/x.py", 'def f(engine: "MyEngine"): ...', ["MyEngine"]),
        ("players/x.py", "import stratagem.language.engines.mine", ["stratagem.language.engines.mine"]),
        ("players/x.py", "from stratagem.language.engines.mine import SIZE", ["stratagem.language.engines.mine.SIZE"]),
        ("players/x.py", "from stratagem.language.engines import mine", ["stratagem.language.engines.mine"]),
        ("language/engines/x.py", "from stratagem.language.engines.mine import MyEngine", []),
        ("training/x.py", "from stratagem.language.engines.base import TrainableEngine\nNotMyEngines = 1", []),
    ],
)
def test_an_engine_that_is_named_elsewhere_is_noticed(path, source, found):
    assert names_of_engines(Path(path), source, {"MyEngine"}, {"stratagem.language.engines.mine"}) == found


def test_nothing_is_called_utils():
    assert [path for path in SRC.rglob("*") if path.stem in ("utils", "util", "helpers", "common", "misc")] == []


ALONE = (
    "stratagem.games",
    "stratagem.games.conformance",
    "stratagem.games.playthrough",
    "stratagem.players.catalogue",
    "stratagem.language.models.load",
)


def import_anew():
    """Return the seconds of the first of these imports in a fresh interpreter, and what is loaded after each."""
    program = "import sys, time\nfrom importlib import import_module\n"
    program += f"for name in {ALONE}:\n import_module(name)\n print(time.process_time(), *sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    lines = [line.split() for line in run.stdout.splitlines()]
    tops = [{name.split(".")[0] for name in line[1:]} for line in lines]
    return float(lines[0][0]), dict(zip(ALONE, tops, strict=True))


@pytest.fixture(scope="module")
def imported_anew():
    return import_anew()


@pytest.mark.parametrize("module", ALONE)
def test_rules_and_players_load_alone(imported_anew, module):
    heavy = {"torch", "transformers", "numpy", "scipy", "pyspiel", "pyarrow", "pydantic", "typer", "open_spiel"}
    if module == "stratagem.language.models.load":  # names of models are read without their libraries
        heavy = {"torch", "transformers"}
    assert imported_anew[1][module] & heavy == set()


def test_the_rules_load_quickly(imported_anew):
    best = imported_anew[0]
    for _ in range(2):  # other work may have slowed it down
        best = best if best < 1.0 else import_anew()[0]
    print(f"import stratagem.games: {best:.3f} s of processor time")  # noqa: T201 - the figure is what a reader wants
    assert best < 1.0
