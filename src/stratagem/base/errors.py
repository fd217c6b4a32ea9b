"""Failures, in one hierarchy.

The policy: a *player's* fault is data, recorded and counted, and never an exception that leaves its table. A *user's*
mistake is a `StratagemError` whose message is one sentence that names the right options; the command line prints that
sentence and nothing else. Anything else that is raised is a defect of ours and keeps its traceback.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable
from difflib import get_close_matches
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

_OWN = "write one in a file and name it {}, as in docs/how-to/name-a-file.md"
_FILES = {"game": "FILE.py:CLASS or FILE.toml", "suite or game": "FILE.py:CLASS or FILE.toml"}
"""Ways to name a file by kind, where there is more than FILE.py:CLASS."""
_MISTAKEN_PATHS = (None, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP)
"""Numbers of the errors of a path; all others, such as a full disk, are the state of the machine."""
_LISTED = 60
"""Largest number of names that a message lists."""
_LONGEST = 200
"""Number of characters of a name in a sentence."""


class StratagemError(Exception):
    """Mistake that the user can correct; the message says how, in one sentence."""

    exit_code = 2
    """Exit status of a command that ends so."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the message; another process makes the error again without the constructor's own parameters."""
        return _made_again, (type(self), self.args, self.__dict__)


def _made_again(kind: type[StratagemError], args: tuple[Any, ...], state: dict[str, Any]) -> StratagemError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class UnknownName(StratagemError):
    """Name that is in no table; the message lists the nearest names.

    With `file` it says how to name one of the user's own; `note` says what else has the name, and `here` is the name
    in the table of what has it elsewhere.
    """

    def __init__(
        self, kind: str, name: str, known: Iterable[str], *, file: bool = False, note: str = "", here: str = ""
    ) -> None:
        self.kind, self.name, self.known = kind, name, (names := sorted(set(known)))
        by_folded = {known_name.casefold(): known_name for known_name in names}
        several = re.split(r"\s*[,;]\s*", name)
        name = name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"
        own = _OWN.format(_FILES.get(kind, "FILE.py:CLASS"))
        near = [by_folded[match] for match in get_close_matches(name.casefold(), by_folded, n=4, cutoff=0.5)]
        if here:
            hint = f"it is called {here} here."
        elif len(several) > 1 and {*several} <= {*names}:
            hint = f"name {' and '.join(several)} one by one."
        elif near:
            hint = f"did you mean {' or '.join(near)}?{f' Or {own}.' if file else ''}"
        else:
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            be = "is" if len(names) == 1 else "are"
            hint = f"there {be} {', '.join(names[:_LISTED]) or 'none'}{more}{f'; {own}' if file else ''}."
        super().__init__(f"There is no {kind} called {name!r}{note}: {hint}")


class BadParameter(StratagemError):
    """Parameter that its owner does not have, or cannot take."""


class WrongKind(BadParameter):
    """Object of another kind than the one that a function takes."""

    def __init__(self, kind: str, wanted: str, given: object) -> None:
        if isinstance(given, type):
            said = f"the class {given.__name__} itself: make one, as in {given.__name__}()"
        else:
            said = type(given).__name__
        article = "An" if kind[:1] in "aeio" else "A"
        super().__init__(f"{article} {kind} is {wanted}, not {said}.")


class IllegalAction(StratagemError):
    """Action that the rules do not allow now; the scheduler asks first, so only a caller's own error shows it."""


class BrokenEntry(StratagemError):
    """Broken entry point of another package."""

    def __init__(self, kind: str, entry: EntryPoint, error: BaseException, name: str = "") -> None:
        package = entry.dist.name if entry.dist else "another package"
        reason = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".: ")
        super().__init__(
            f"The {kind} {name or entry.name} of the package {package} is broken: {entry.value} says {reason}."
        )


class BadRecord(StratagemError):
    """Invalid file: torn, of another version, or short of a column."""


class MissingExtra(StratagemError):
    """Required package that is not installed."""

    def __init__(self, what: str, extra: str, otherwise: str = "") -> None:
        super().__init__(f"{what} needs an extra that is not installed: {install_command(extra)}{otherwise}.")


def install_command(extra: str) -> str:
    """Return the command that installs an extra: in a checkout, or beside an installed package."""
    in_checkout = (Path(__file__).parents[3] / "pyproject.toml").is_file()
    return f"pip install -e '.[{extra}]' in the checkout" if in_checkout else f"pip install 'stratagem[{extra}]'"


class WriteFailed(StratagemError):
    """Failed change of a file or a folder; a mistaken path, such as one below a file, has the status of a mistake."""

    def __init__(self, path: object, reason: str, number: int | None) -> None:
        super().__init__(f"{path} cannot be written: {reason}.")
        self.exit_code = 2 if number in _MISTAKEN_PATHS else 1


class CannotCompute(StratagemError):
    """Exact figure that cannot be computed for this game or this player."""


class Quit(BaseException):
    """A person left the table.

    It is no `Exception`, since those count as a player's faults and are recorded.
    """

    def __init__(self) -> None:
        super().__init__("You left the table, so the match ended there.")
