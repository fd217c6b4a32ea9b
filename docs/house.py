"""Print how many types, words, commands and lines the results have: `make house`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rooms import Rooms

import stratagem
from stratagem.cli.commands import COMMANDS
from stratagem.cli.loading import permissions
from stratagem.cli.main import app

SRC = Path(stratagem.__file__).parent
PACKAGES = ("cli", "api", "measure", "show")
FIGURES = ("exploitability", "nash_conv", "nash_exploitability")
"""Members by which a class is a result of exploitability; so is a class with the word in its name."""
OPTIONAL = ("exact", "scored", "sampled", "bound", "why_not_exact", "estimate", "worst_advantage", "by_seat", "method")
"""Optional fields of a `row` of an evaluation, of its `exploitability`, or of a figure that was `found`."""

WORDS = {
    "exploitability": (
        ("command", "measure/figures/declared.py", "NashConv/2"),
        ("command", "measure/figures/declared.py", "NashConv/n"),
        ("JSON", "measure/exploitability/result.py", "exploitability"),
        ("JSON", "measure/exploitability/scored.py", "exploitability_low"),
        ("JSON", "measure/exploitability/scored.py", "exploitability_high"),
        ("JSON", "measure/exploitability/replies.py", "from_replies"),
        ("JSON", "measure/exploitability/lower_bound.py", "lower_bound"),
        ("Python", "api/evaluations.py", "exploitability"),
        ("Python", "api/evaluations.py", "exploitability_lower_bound"),
        ("Python", "measure/exploitability/result.py", "estimate"),
        ("report", "show/reports/headline.py", "exact exploitability"),
        ("report", "show/reports/facets.py", "Exact exploitability"),
        ("report", "show/reports/facets.py", "Exploitability from replies"),
        ("report", "show/reports/sections/league.py", "exploitability (exact)"),
        ("report", "show/reports/files.py", "nash_exploitability"),
    ),
    "gain of a best response at a seat": (
        ("command", "measure/figures/declared.py", "gain by seat"),
        ("JSON", "measure/exploitability/lower_bound.py", "by_seat"),
        ("Python", "measure/exploitability/result.py", "gains"),
        ("Python", "api/exploitabilities.py", "gain"),
        ("report", "show/reports/metric_reading.py", "best_response_gain"),
    ),
    "advantage of the best responder": (
        ("command", "measure/figures/declared.py", "worst case"),
        ("command", "measure/figures/declared.py", "worst advantage"),
        ("Python", "measure/exploitability/result.py", "worst_advantage"),
        ("report", "show/reports/facets.py", "best responder"),
        ("report", "show/reports/facets.py", "validation/worst_case"),
        ("report", "show/reports/sections/results.py", "worst case"),
    ),
    "advantage of a pool's adversaries": (
        ("command", "measure/figures/declared.py", "pool loss"),
        ("command", "measure/figures/declared.py", "pool advantage"),
        ("command", "measure/figures/declared.py", "their advantage"),
        ("command", "measure/metrics/payoff.py", "pool_advantage"),
        ("JSON", "measure/report.py", "pool_advantage"),
        ("report", "show/reports/headline.py", "exploit by the pool"),
        ("report", "show/reports/facets.py", "validation/exploit"),
    ),
    "mean payoff a round": (
        ("command", "measure/metrics/payoff.py", "pay"),
        ("command", "cli/match.py", "payoff"),
        ("command", "api/tournaments.py", "mean vs others"),
        ("JSON", "measure/report.py", "mean_against_others"),
        ("Python", "api/evaluations.py", "unscaled_payoff"),
        ("Python", "api/episodes.py", "payoffs"),
    ),
    "value of a player against itself": (
        ("command", "measure/figures/declared.py", "own value by seat"),
        ("Python", "measure/exploitability/result.py", "values"),
        ("Python", "api/exploitabilities.py", "value"),
    ),
}
"""Words of one figure by face, each with a file in which it stands; a word that is gone is not counted."""


def trees() -> Iterator[tuple[Path, ast.Module]]:
    """Yield every module of the package with its syntax tree."""
    for path in sorted(SRC.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def result_types() -> list[str]:
    """Return the classes that hold an exploitability."""
    return [
        f"{path.relative_to(SRC)}:{node.name}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.endswith("Settings")
        if "Exploitability" in node.name or members(node) & set(FIGURES)
    ]


def members(node: ast.ClassDef) -> set[str]:
    """Return the names of the fields and methods of a class."""
    fields = {
        at.target.id
        for at in node.body
        if isinstance(at, ast.AnnAssign) and isinstance(at.target, ast.Name) and not is_of_other_type(at.annotation)
    }
    return fields | {at.name for at in node.body if isinstance(at, ast.FunctionDef)}


def is_of_other_type(annotation: ast.expr) -> bool:
    """Return whether a field holds a result of another class, or the name of a method or player."""
    return any(
        isinstance(at, ast.Name) and at.id in ("Exploitability", "StoredExploitability", "Player", "PlayerLike")
        for at in ast.walk(annotation)
    )


def switches() -> list[str]:
    """Return the conditions that read an optional field of exploitability."""
    return [
        f"{path.relative_to(SRC)}:{test.lineno}"
        for path, tree in trees()
        for test in conditions(tree)
        if any(map(is_optional, ast.walk(test)))
    ]


def conditions(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the conditions of statements, expressions and comprehensions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            yield node.test
        elif isinstance(node, ast.comprehension):
            yield from node.ifs


def is_optional(node: ast.AST) -> bool:
    """Return whether an expression reads an optional field."""
    if not isinstance(node, ast.Attribute) or node.attr not in OPTIONAL:
        return False
    of = node.value
    name = of.id if isinstance(of, ast.Name) else of.attr if isinstance(of, ast.Attribute) else ""
    return name in ("row", "found", "exploitability")


def synonyms(figure: str) -> list[str]:
    """Return the words of a figure that still stand in their files."""
    found = [f"{face}: {word}" for face, file, word in WORDS[figure] if stands(file, word)]
    return list(dict.fromkeys(found))


def stands(file: str, word: str) -> bool:
    """Return whether a file still has a word."""
    path = SRC / file
    return path.is_file() and word in texts_of(ast.parse(path.read_text(encoding="utf-8")))


def texts_of(tree: ast.Module) -> set[str]:
    """Return the names of a module, and its texts, whole and by the words of f-strings."""
    found: set[str] = set()
    for node in ast.walk(tree):
        for name in ("id", "attr", "name", "value", "arg"):
            if isinstance(text := getattr(node, name, None), str):
                found |= {text, text.strip()}
    return found


def lines(package: str) -> tuple[int, int]:
    """Return the number of modules and of lines of a package."""
    files = sorted((SRC / package).rglob("*.py"))
    return len(files), sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def options() -> list[str]:
    """Return every option of every command; those of consent, which nearly all have, are not counted."""
    from typer.main import get_command

    group: Any = get_command(app)
    loaded = {name: group.commands[name].loaded for name in COMMANDS}
    common = {"help", *(one.name for one in permissions())}
    return [
        f"{name} {(*one.opts, *one.secondary_opts)[0]}"
        for name, command in loaded.items()
        for one in command.params
        if one.param_type_name == "option" and one.name not in common
    ]


def main() -> None:
    """Print the measures."""
    types, tests, listed = result_types(), switches(), options()
    print(f"result types of exploitability  {len(types)}")
    print("".join(f"  {name}\n" for name in types), end="")
    print(f"conditions on optional fields of exploitability  {len(tests)}")
    print("".join(f"  {place}\n" for place in tests), end="")
    for figure in WORDS:
        print(f"words for {figure}  {len(synonyms(figure))}")
        print("".join(f"  {word}\n" for word in synonyms(figure)), end="")
    print(f"commands  {len(COMMANDS)}")
    print(f"options  {len(listed)}, of {len({one.split()[1] for one in listed})} names")
    print(f"public names of stratagem.__all__  {len(stratagem.__all__)}")
    for package in PACKAGES:
        print("{}  {} modules, {} lines".format(package, *lines(package)))
    print("\n".join(Rooms().report()))


if __name__ == "__main__":
    main()
