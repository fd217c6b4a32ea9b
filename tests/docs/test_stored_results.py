"""The figures behind the results pages: every one names the commit and the command that made it."""

import json
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from stratagem.training.runs.config_file import recipe_digest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = sorted((ROOT / "docs/results").glob("*.json"))
COMMIT = re.compile(r"[0-9a-f]{40}")
COMMIT_KEY = re.compile(r'"commit": "([0-9a-f]{40})"')
MACHINE = re.compile(r"(?<![\w.])/(?:home|opt|root|tmp|Users|work)/[^\"\s]*")


@cache  # several tests ask for the same file, and the largest has 2.5 MB
def data_of(path):
    """Parse a file of results."""
    return json.loads(path.read_text("utf-8"))


def source_of(node):
    """Return whether an object, or its own provenance record, names a commit and a command."""
    parts = [node, *(own for own in node.values() if isinstance(own, dict))]
    commit = any(COMMIT.fullmatch(str(part.get("commit"))) for part in parts)
    return commit and any(isinstance(part.get("command"), str) for part in parts)


def figures_without_source(node, where=""):
    """The places of numbers that stand in nothing that names its commit and its command."""
    if isinstance(node, dict):
        if source_of(node):
            return []
        return [place for name, own in node.items() for place in figures_without_source(own, f"{where}/{name}")]
    if isinstance(node, list):
        return [place for number, own in enumerate(node) for place in figures_without_source(own, f"{where}/{number}")]
    return [where] if isinstance(node, int | float) and not isinstance(node, bool) else []


def commands_without_commit(node, where="", above=False):
    """The places of commands with no commit beside them or above them."""
    if isinstance(node, list):
        return [found for i, own in enumerate(node) for found in commands_without_commit(own, f"{where}/{i}", above)]
    if not isinstance(node, dict):
        return []
    known = above or COMMIT.fullmatch(str(node.get("commit"))) is not None
    inside = [found for name, own in node.items() for found in commands_without_commit(own, f"{where}/{name}", known)]
    return inside + ([] if known or "command" not in node else [where])


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name)
def test_results_name_the_commit_and_the_command_of_every_figure(path):
    data = data_of(path)
    assert not figures_without_source(data)
    assert not commands_without_commit(data)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name)
def test_results_name_no_folder_of_the_machine_they_were_made_on(path):
    assert not MACHINE.findall(path.read_text("utf-8"))


def digests(node):
    """The digests of the recipes of runs."""
    if isinstance(node, dict):
        if "commit" in node and isinstance(node.get("recipe"), str):
            yield node["recipe"]
        for own in node.values():
            yield from digests(own)
    elif isinstance(node, list):
        for own in node:
            yield from digests(own)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name)
def test_results_have_the_recipe_of_each_digest_beside_them(path):
    for digest in digests(data_of(path)):
        assert recipe_digest(json.loads((path.parent / "recipes" / f"{digest}.json").read_text("utf-8"))) == digest


def dirty(node):
    """Count the records that say that files were changed and not committed."""
    inside = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return int(isinstance(node, dict) and node.get("dirty") is True) + sum(map(dirty, inside))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name)
def test_results_are_linked_and_pages_name_uncommitted_changes(path):
    pages = [page.read_text("utf-8") for page in (ROOT / "docs").glob("**/*.md")]
    linking = [page for page in pages if f"{path.name})" in page]
    assert linking
    assert not dirty(data_of(path)) or any("uncommitted changes" in page for page in linking)


UNCOMMITTED = {
    "audit-agents.json": 2,
    "sco-pal.json": 1,
    "sco-pal-analyses.json": 14,
    "sco-pal-search.json": 6,
}
"""Number of records made with uncommitted changes, by file. What is made again leaves the list; nothing joins it."""
UNMARKED = (
    *("diplomacy-bots", "diplomacy-near-longer", "diplomacy-random", "diplomacy-year", "diplomacy-year-bots"),
    *("labels-smollm2", "league-diplomacy-year", "sco-pal-rules-start"),
)
UNVERSIONED = ("growth", "learner", "memory", "notes", "performance", "sco-pal-matches", "search-expert", "vllm")
LACKING = {
    **{f"{name}.json": {"dirty"} for name in UNMARKED},
    **{f"{name}.json": {"dirty", "stratagem"} for name in UNVERSIONED},
    "diplomacy-small.json": {"dirty", "recipe"},
}
"""Keys that records of earlier files lack."""
ABANDONED = {"audit-agents", "bound-coverage", "press", "reading", "search"} | {
    f"diplomacy-search-{name}" for name in ("1908", "bots", "ported")
}
"""Files with a commit that the history has not."""


def lacking(node, above=frozenset()):
    """Yield the keys that records lack: the version, the mark of uncommitted changes, the recipe of a training run.

    Version and mark may stand in the objects around a record. The version of a training run is that of its commit.
    """
    if isinstance(node, list):
        for own in node:
            yield from lacking(own, above)
    elif isinstance(node, dict):
        beside = node.get("made_by")
        record = {**beside, **node} if isinstance(beside, dict) else node
        named = above | {key for key in ("stratagem", "dirty") if record.get(key) is not None}
        if COMMIT.fullmatch(str(node.get("commit"))):
            trains = str(node.get("command")).startswith("stratagem train ")
            named_here = named | {key for key in ("recipe",) if isinstance(node.get(key), str)}
            yield from {"dirty", "recipe" if trains else "stratagem"} - named_here
        for own in node.values():
            yield from lacking(own, named)


def history():
    """Return the commits that led to this one; None where git does not keep them all."""
    git = ["git", "-C", str(ROOT)]
    known = subprocess.run([*git, "ls-files", "--error-unmatch", __file__], capture_output=True, check=False)
    whole = [*git, "rev-parse", "--is-shallow-repository"]
    if known.returncode or subprocess.run(whole, capture_output=True, text=True).stdout.strip() != "false":
        return None
    return set(subprocess.run([*git, "rev-list", "HEAD"], capture_output=True, text=True).stdout.split())


def test_records_with_uncommitted_changes_grow_no_more():
    counts = {path.name: dirty(data_of(path)) for path in RESULTS}
    assert {name: count for name, count in counts.items() if count} == UNCOMMITTED


def test_records_name_their_version_their_mark_and_their_recipe():
    found = {path.name: set(lacking(data_of(path))) for path in RESULTS}
    assert {name: keys for name, keys in found.items() if keys} == LACKING


def test_what_a_record_lacks_is_found():
    record = {"commit": "a" * 40, "command": "stratagem train kuhn.toml", "dirty": False, "recipe": "b" * 32}
    assert set(lacking({"runs": [record]})) == set()
    assert set(lacking({"runs": [{**record, "recipe": None, "dirty": None}]})) == {"recipe", "dirty"}
    evaluated = {**record, "command": "stratagem eval kuhn"}
    assert set(lacking(evaluated)) == {"stratagem"}
    assert set(lacking({"made_by": {**evaluated, "stratagem": "0.2.0"}, "rows": [{"commit": "a" * 40}]})) == set()


def test_results_name_commits_of_the_history():
    if (known := history()) is None:
        pytest.skip("the history is not here, or not all of it")
    commits = {path.stem: set(COMMIT_KEY.findall(path.read_text("utf-8"))) for path in RESULTS}
    assert {name for name, own in commits.items() if own - known} == ABANDONED


def test_a_figure_without_commit_or_command_is_found():
    commit, command = "a" * 40, "stratagem eval kuhn"
    named = {"made_by": {"commit": commit, "command": command}, "games": [{"payoff": 1.0}]}
    assert figures_without_source(named) == []
    assert figures_without_source({**named, "made_by": {"command": command}}) == ["/games/0/payoff"]
    assert figures_without_source({**named, "made_by": {"commit": "HEAD", "command": command}}) == ["/games/0/payoff"]
    assert figures_without_source({"runs": [{**named}, {"mean": 2}]}) == ["/runs/1/mean"]
    assert commands_without_commit({"runs": [{"command": command}, named]}) == ["/runs/0"]


def test_a_folder_of_a_machine_is_found():
    assert MACHINE.search('"command": "stratagem eval --out /tmp/x.json"')
    assert MACHINE.search("dir:/home/someone/model")
    assert not MACHINE.search("python experiments/work/x.py runs/home/tmp")


BOTH_COUNTS = (
    *("diplomacy-search", "diplomacy-search-1908", "diplomacy-search-ported"),
    *("diplomacy-proposed", "diplomacy-tuned-ported", "diplomacy-proposals"),
)
"""Results whose first places the search page tells with ties and alone."""


def percent(figure):
    """Write a share with its interval as the pages do."""
    return "{mean:.0%} [{low:.0%}, {high:.0%}]".format(**figure).replace("%", "")


@pytest.mark.parametrize("name", BOTH_COUNTS)
def test_search_page_tells_first_places_with_ties_and_alone_beside_both_nulls(name):
    page = (ROOT / "docs/results/diplomacy-search.md").read_text("utf-8").replace("*", "")
    for game in json.loads((ROOT / f"docs/results/{name}.json").read_text("utf-8"))["games"]:
        for player in game["players"]:
            (first, null), (alone, null_alone) = (
                (percent(player["metrics"][count]), f"{player['nulls'][count]:.0%}"[:-1])
                for count in ("first", "sole first")
            )
            assert f"| {first} | {null} | {alone} | {null_alone} |" in page


def test_targets_tell_both_counts_of_the_search():
    metrics = json.loads((ROOT / "docs/results/diplomacy-search.json").read_text("utf-8"))["games"][0]["players"][0]
    first, alone = (f"{metrics['metrics'][count]['mean']:.0%}"[:-1] for count in ("first", "sole first"))
    assert f"with ties {first} % [81, 91], an equal 17 %; alone {alone} % [66, 78], an equal 12 %" in (
        ROOT / "docs/results/targets.md"
    ).read_text("utf-8")
