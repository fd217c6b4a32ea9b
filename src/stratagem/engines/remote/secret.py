"""The key of a server: it comes from the environment, goes to the server, and shows itself nowhere else."""

from __future__ import annotations

import os

from stratagem.errors import BadParameter

VARIABLES = ("STRATAGEM_API_KEY", "OPENAI_API_KEY")
"""Where a key is looked for; the first that is set counts."""
NO_KEY = "none"
"""What is sent where no key is set: servers of one's own accept anything."""
_SHORT = 6
"""A text below this length is no secret, and may stand in any reply by chance."""


class Secret:
    """A key that only `reveal` tells; its `repr` does not."""

    __slots__ = ("_value", "variable")

    def __init__(self, value: str, variable: str = "") -> None:
        if not (value.isascii() and value.isprintable()):
            raise BadParameter(
                f"The key in {variable} has a character that no key has: set it again, as one plain line."
            )
        self._value = value
        self.variable = variable

    def reveal(self) -> str:
        """The key itself, for the server."""
        return self._value

    def hide(self, text: str) -> str:
        """The text without the key, should a server repeat it."""
        return text.replace(self._value, "…") if len(self._value) >= _SHORT else text

    def __repr__(self) -> str:
        return f"Secret({self.variable or 'no key'})"


def key_from_environment() -> Secret:
    """The key that is set; blanks around it, such as the end of a line, are dropped."""
    for variable in VARIABLES:
        if value := os.environ.get(variable, "").strip():
            return Secret(value, variable)
    return Secret(NO_KEY)
