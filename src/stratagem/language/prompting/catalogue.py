"""Every prompt style by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from stratagem.base.registry import Registry, parse_call
from stratagem.language.prompting.base import Style
from stratagem.language.prompting.diplomacy import OrderSheets
from stratagem.language.prompting.gtbench import GTBench
from stratagem.language.prompting.plain import GOALS, ArenaStyle, Bare, Brief, GoalStyle, Plain, ReasonedStyle
from stratagem.language.prompting.shapellm import ShapeLLM
from stratagem.language.prompting.surroundings import Surroundings
from stratagem.language.prompting.templates.lookup import PREFIX
from stratagem.language.prompting.templates.style import shipped_template, template_of_file

PAPERS = (
    *("shapellm-paper-base", "shapellm-paper-state", "shapellm-paper-occurrence"),
    *("shapellm-paper-state-table", "shapellm-paper-occurrence-table"),
    *("shapellm-paper-state-switched", "shapellm-paper-occurrence-switched"),
    *("shapellm-paper-state-system", "shapellm-paper-occurrence-system"),
    *("scopal-paper", "sepo-paper", "diplomacy-paper"),
)
"""Styles that tell the facts of a paper's prompts in the paper's order and format; each is a template."""
STYLES: dict[str, Callable[..., Style]] = {
    "plain": Plain,
    "reasoned": ReasonedStyle,
    "brief": Brief,
    "bare": Bare,
    "arena": ArenaStyle,
    "gtbench": GTBench,
    "gtbench-reasoned": partial(GTBench, reason=True),
    "diplomacy-verbose": partial(OrderSheets, shows="verbose"),
    "diplomacy-compact": partial(OrderSheets, shows="compact"),
    "diplomacy-minimal": partial(OrderSheets, shows="minimal"),
    "diplomacy-windows": partial(OrderSheets, shows="windows"),
    "diplomacy-counts": partial(OrderSheets, shows="counts"),
    "diplomacy-surroundings": Surroundings,
    "shapellm-base": partial(ShapeLLM, shows="base"),
    "shapellm-state": partial(ShapeLLM, shows="state"),
    "shapellm-occurrence": partial(ShapeLLM, shows="occurrence"),
    **{name: partial(shipped_template, name) for name in PAPERS},
}
"""Styles by name; options follow in brackets: `shapellm-state(payoffs=table, switched=True)`."""

LATER_VERSIONS = tuple(
    f"{name}(version={version})"
    for name, factory in STYLES.items()
    if isinstance(factory, type) and issubclass(factory, GoalStyle)
    for version in GOALS
    if version > factory.version
)
"""Styles in the versions after the first, which a name alone does not mean."""

_registry: Registry[Style] = Registry("prompt style", STYLES, "stratagem.styles", Style, forms=(f"{PREFIX}FILE.txt",))


def make_style(text: str) -> Style:
    """Make the style that a text names: one of these, one of a Python file, or a template in a text file."""
    if text.strip().startswith(PREFIX):
        return template_of_file(text.strip())
    return _registry.make(parse_call(text))


def style_names() -> list[str]:
    """Return every name that `make_style` knows."""
    return _registry.names()


def style_versions() -> list[str]:
    """Return every name that `make_style` knows, and after them the later versions of the styles that have several."""
    return [*style_names(), *LATER_VERSIONS]


def another_style(text: str) -> str:
    """Return a style that writes other prompts than this one, with the same system message where it has a version."""
    style = make_style(text)
    version = style.version if isinstance(style, GoalStyle) else 1
    name = "plain" if isinstance(style, Brief) else "brief"
    return name if version == 1 else f"{name}(version={version})"
