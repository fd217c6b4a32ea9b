"""Check the words of code and documentation; `make check` runs it.

It prints each finding as `file:line: sentence` and exits with 1 if there is one:
a docstring that begins with a question word, or a phrase of `REPLACED`.

Every private word that has a standard term is in one of three tables: `REPLACED` for phrases, `KEYS` for keys of
settings, `SPARED` for words with other meanings, each with its reason. `tests/test_words.py` checks the tables.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

READ = (
    "src",
    "tests",
    "docs",
    "recipes",
    "examples",
    "experiments",
    "benchmarks",
    "integrations",
    "README.md",
    "CONTRIBUTING.md",
    "AGENTS.md",
)
"""Folders and files that the check reads."""

ENDINGS = {".py", ".md", ".toml"}
"""Endings of the files that hold words of ours; results in JSON keep the names of their commit."""

OPENERS = ("What", "How", "Whether", "Those", "Who")
"""First words that make a docstring a riddle: a docstring's first line names the thing."""

REPLACED = {
    r"hero(?:es)?": "agent",
    r"warm[ _-]?start(?:s|ed)?": "SFT",
    r"last[ _-]tables?": "final evaluation",
    r"lessons?": "training example",
    r"beg[aiu]n(?:s|ning)? anew": "reset",
    r"teach(?:es)? (?:nobody|nothing)": "train nothing",
    r"(?:is|are|was|were) taught": "is trained on",
    r"teaches": "is a training example, or is in the loss mask",
    r"untaught": "not trained on",
    r"uncharged": "inactive",
    r"charge[sd]?": "penalty, penalised",
    r"worth more than": "advantage",
    r"(?:position|state|action|decision|episode|round|step|reply|order)s? (?:is|are) worth": "value",
    r"(?:is|are|was|were) paid(?! twice| here| for)": "reward, return or payoff",
    r"what (?:it|they|he|she|that|this) brought": "reward, return",
    r"openness": "exploitability",
    r"farthest(?= =|`)": "max_update_kl",
    r'least[ _]spread(?!")': "advantage_std_floor",
    r"first policies": "target policies",
    r"forks? (?:each|apiece)": "branched rollouts",
    r"what leaving the reference costs": "KL penalty",
    r"class Trained(?=[(:\[])": "TrainablePolicy",
    r"class Held(?=[(:\[])": "artifacts, saved checkpoints",
    r"class (?:Watch|Seen)(?=[(:\[])": "TrainingMonitor, StepContext, or a noun that says of what",
    r"to the bit": "bit-identical",
}
"""Phrases that must not stand in a file, and the standard term of each."""

KEYS = (
    *("forks", "rollouts", "groups", "updates", "rate", "decay", "clip", "clip_low", "clip_high", "warm_up"),
    *("warm_start", "kl", "beta", "alpha", "gamma", "lam", "centre", "least_spread", "farthest", "pace", "dice"),
    *("terms", "credit", "orders", "budget", "max_new", "recompute", "horizon", "source", "judge", "select", "aims"),
    *("clock", "better", "at", "instead", "match", "block"),
)
"""Replaced keys of settings: `tests/test_setting_keys.py` keeps them out of recipes, classes of settings and pages.

They are no phrases, since each is also a plain word, a symbol of mathematics, or the name of something else.
"""

SPARED = {
    "pay": "a game pays its seats, and `payoff` is the term where a game theorist speaks; requests are paid for",
    "worth": "an item of an auction or of a negotiation is worth points, in the words of the game",
    "taught": "the name of a file of corrected decisions, `taught.jsonl`, which a recipe reads",
    "kept": "a plain word for what is not dropped, such as a shard or a token",
    "fork": "the verb of a state, which stays; a game's check is called `forks`",
    "norm": "the term of mathematics; the metric of a run is `grad_norm`",
    "spread": "the work of a batch is spread over workers, and values of a game have a spread",
    "plus": "a plain word; the parameter `combine` has the values add and multiply",
    "aside": "later data of a run are set aside; `members.json` has the key in stored runs",
    "open": "a file, a text and a server are open; of a policy it is exploitable",
    "signal": "safety signals of a game; the figure is the gradient signal-to-noise ratio",
    "said, told, found, place, one": "local names, which a reader of one function meets with their value",
    "stages": "the stages of a training; `final_evaluation.stages` selects them",
    "enriched": "the term of the ShapeLLM paper for a seat whose prompt has counts (A.4)",
}
"""Private words that no pattern can tell from plain ones, each with the meaning that is right."""

EXCUSED = {
    "tests/words.py": "it holds the list",
    "tests/test_words.py": "it has an example of each phrase",
    "tests/test_setting_keys.py": "it names replaced keys",
    "tests/runs/earlier/": "runs have the keys of their release",
}
"""Paths that the check does not read yet, or not at all, with the reason.

A path of this table without a finding is an error: the table only shrinks.
"""

PHRASES = {re.compile(rf"(?<![A-Za-z]){phrase}(?![a-z])", re.IGNORECASE): term for phrase, term in REPLACED.items()}


KEPT = re.compile(
    r"""\.at\("[^"]*"|"warm_start": "sft"|servers charge|both are paid\.|You are paid \{"""
    r"""|the higher bid wins and is paid|each power is paid its centres"""
)
"""Texts that keep an old phrase.

These are parts of a key, from which random draws follow, a replaced setting, what a server costs, and what a model
reads in a game: a change of a text would make another game.
"""


def files() -> Iterator[Path]:
    """Yield the files to read, in order."""
    for name in READ:
        path = ROOT / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.suffix in ENDINGS and file.is_file():
                yield file


def docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every string that stands as a statement: docstrings, notes of fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def riddles(text: str) -> Iterator[tuple[int, str]]:
    """Yield a finding for each docstring that begins with a question word."""
    for line, docstring in docstrings(ast.parse(text)):
        first = docstring.split(maxsplit=1)[0] if docstring.strip() else ""
        if first.rstrip(",") in OPENERS:
            yield line, f"a docstring begins with {first}: its first line names the thing"


def phrases(text: str) -> Iterator[tuple[int, str]]:
    """Yield a finding for each phrase of `REPLACED`."""
    for line, words in enumerate(text.splitlines(), 1):
        for pattern, term in PHRASES.items():
            if found := pattern.search(KEPT.sub("", words)):
                yield line, f"{found.group()!r} has a standard term: {term}"


def findings(file: Path) -> list[str]:
    """Return the findings of one file, each with its place."""
    text = file.read_text("utf-8")
    found = [*phrases(text), *(riddles(text) if file.suffix == ".py" else ())]
    return [f"{file.relative_to(ROOT)}:{line}: {finding}" for line, finding in sorted(found)]


def excuse(name: str) -> str | None:
    """Return the entry of `EXCUSED` that covers a path, if one does."""
    return next((path for path in EXCUSED if name == path or (path.endswith("/") and name.startswith(path))), None)


def main() -> int:
    """Print the findings and the excuses that are no longer needed; return the exit code."""
    printed: list[str] = []
    needed: set[str] = set()
    for file in files():
        excused, found = excuse(str(file.relative_to(ROOT))), findings(file)
        if excused is None:
            printed += found
        elif found:
            needed.add(excused)
    printed += [
        f"{path}: nothing to excuse; take it out of EXCUSED in tests/words.py" for path in EXCUSED if path not in needed
    ]
    sys.stdout.writelines(f"{line}\n" for line in printed)
    return 1 if printed else 0


if __name__ == "__main__":
    raise SystemExit(main())
