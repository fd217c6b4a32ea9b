"""Errors in the words of a page, where nobody can call a function of Python."""

from __future__ import annotations

import re

from stratagem.base.consent.flags import CALL, flag, with_flags

_ALONE = "name one with `episode`"
_ALLOWING = re.compile(rf"add {CALL.pattern}")


def sentence_of(error: Exception) -> str:
    """Return the sentence of an error; a thing is allowed by an option of the command that shows the pages."""
    said = _ALLOWING.sub(lambda found: f"start `stratagem view` again with `{flag(found)}`", str(error))
    return with_flags(said).replace(_ALONE, "open a game, and export it alone")


def reason_of(error: Exception) -> str:
    """Return what an error of foreign code says, as the end of a sentence."""
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".: ")
