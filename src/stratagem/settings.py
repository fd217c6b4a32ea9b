"""What settings are: frozen, strict, and told in one sentence where they are wrong.

A class of settings stands beside the thing that it sets; the note under a field is its documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from stratagem.errors import BadParameter


class Settings(BaseModel):
    """Named values, each with a type and a default that was vetted; unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    @classmethod
    def read(cls, data: Mapping[str, Any], where: str = "") -> Self:
        """Settings from plain data, such as a table of a TOML file."""
        try:
            return cls.model_validate(dict(data))
        except ValidationError as error:
            raise BadParameter(_sentence(cls, error, where)) from error


class FiniteSettings(Settings):
    """Settings with which something is computed: none of their numbers is infinite."""

    model_config = ConfigDict(allow_inf_nan=False)


def _sentence(cls: type[Settings], error: ValidationError, where: str) -> str:
    """The first mistake, with where it is and what there is instead."""
    first = error.errors()[0]
    place = ".".join([where, *(str(step) for step in first["loc"])]).strip(".")
    if first["type"] == "extra_forbidden":
        return f"There is no setting {place}: there are {', '.join(cls.model_fields)}."
    reason = str(first["ctx"]["error"]) if "error" in first.get("ctx", {}) else first["msg"]
    if not place:  # settings that cannot stand together
        return f"{reason[:1].upper()}{reason[1:].rstrip('.')}."
    return f"The setting {place} cannot be {first['input']!r}: {reason.rstrip('.')}."
