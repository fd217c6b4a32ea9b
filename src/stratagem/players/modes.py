"""Modes of a language model: six ways of asking the engine and of reading an action from the reply.

`direct` and `single` can state their probabilities exactly, `prefix` by bounds; the others think aloud first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import Any, ClassVar

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.base import View
from stratagem.games.choices import Choices
from stratagem.language.decoding.guides import Free, OneToken
from stratagem.language.decoding.stopping import after_thinking
from stratagem.language.engines.base import UNSAID, Call, Request
from stratagem.language.prompting.base import Style
from stratagem.players.base import Ask, How, Move
from stratagem.players.opening import Openings
from stratagem.players.scoring import length
from stratagem.players.speaker import ACTION, Speaker

_NAMED = 24
"""Number of legal actions that an elicitation names."""
Reply = Generator[Request, Call, Move]


class Mode(ABC):
    """Way of getting an action from a model."""

    masks: ClassVar[bool] = True
    """True if the engine must obey a guide token by token."""
    exact: ClassVar[bool] = False
    """True if the mode can state its probabilities."""
    scored: ClassVar[bool] = False
    """True if a server's log-probabilities tell the probabilities of its actions."""
    marked: ClassVar[bool] = False
    """True if the style must have a mark before the action."""

    @abstractmethod
    def turn(self, speaker: Speaker, ask: Ask) -> Reply:
        """Ask, and read the reply."""


class FreeText(Mode):
    """Free text; the action is read from the last line, and a reply that names none is illegal."""

    masks = False

    def turn(self, speaker: Speaker, ask: Ask) -> Reply:
        prompt, choices = speaker.prompt(ask.view, ask.past, ask.refused), ask.view.choices
        if not speaker.engine.capabilities.masks:
            call = yield speaker.ask(prompt, OneToken(), ask.key, speaker.max_new_tokens)
            return read(choices, call, speaker.style.close)
        guide = speaker.free(choices, prompt)
        call = yield speaker.ask(prompt, guide, ask.key, speaker.max_new_tokens)
        return read_free(choices, guide, call, speaker.style.close)


class RecoveredMode(Mode):
    """Free text; where it names no action, a short question gives the most likely one (SEPO).

    The question continues the reply and names the legal actions. The action is the arg-max down the trie, not a
    sample, so it carries no gradient.
    """

    def turn(self, speaker: Speaker, ask: Ask) -> Reply:
        prompt, choices = speaker.prompt(ask.view, ask.past), ask.view.choices
        guide = speaker.free(choices, prompt)
        call = yield speaker.ask(prompt, guide, ask.key, speaker.max_new_tokens, extended=True)
        move = read_free(choices, guide, call, speaker.style.close)
        if move.action is not None or move.how == "error" or choices.is_free:
            return move
        elicited = speaker.engine.follow(call, elicitation(choices))
        cursor = speaker.compiler.walker(choices, elicited).start()
        again = yield speaker.ask_likeliest(elicited, cursor, ask.key)
        return move_of_replies(cursor.action, "recovered", (call, again))


class ConstrainedMode(Mode):
    """Free text until the style's mark, and then only a legal action."""

    marked = True

    def turn(self, speaker: Speaker, ask: Ask) -> Reply:
        prompt, choices = speaker.prompt(ask.view, ask.past), ask.view.choices
        guide = speaker.guide_to_mark(choices, prompt)
        call = yield speaker.ask(prompt, guide, ask.key, speaker.max_new_tokens + ACTION)
        return move_of_replies(guide.action, "constrained", (call,))


class Direct(Mode):
    """Only a legal action, from the first token on."""

    exact = True

    def turn(self, speaker: Speaker, ask: Ask) -> Reply:
        prompt, choices = speaker.prompt(ask.view, ask.past), ask.view.choices
        cursor = speaker.compiler.walker(choices, prompt).start()
        call = yield speaker.ask(prompt, cursor, ask.key, ACTION)
        return move_of_replies(cursor.action, "free" if choices.is_free else "constrained", (call,))


class Single(Mode):
    """One unmasked token of the whole vocabulary; unless it is a legal action, it is a null action (ShapeLLM)."""

    exact = True

    def turn(self, speaker: Speaker, ask: Ask) -> Reply:
        prompt, guide = speaker.prompt(ask.view, ask.past), OneToken()
        labels = speaker.compiler.labels(ask.view.choices, prompt)
        call = yield speaker.ask(prompt, guide, ask.key, 1)
        return move_of_replies(labels.get(guide.token), "free", (call,))


class Prefix(Mode):
    """A few tokens of free text; the action is the longest legal one that they begin with, whatever follows."""

    masks = False
    scored = True

    def turn(self, speaker: Speaker, ask: Ask) -> Reply:
        openings = Openings(ask.view.choices)
        most = length(speaker, openings)
        call = yield speaker.ask(speaker.prompt(ask.view, ask.past), OneToken(), ask.key, most)
        return move_of_replies(None if call.finish in UNSAID else openings.read(call.text), "free", (call,))


MODES: dict[str, Mode] = {
    "free": FreeText(),
    "recover": RecoveredMode(),
    "constrained": ConstrainedMode(),
    "direct": Direct(),
    "single": Single(),
    "prefix": Prefix(),
}
"""Modes by name."""


def check_mode(name: str, speaker: Speaker, view: View[Any]) -> None:
    """Refuse a mode that the model, the style or the game does not admit."""
    engine = speaker.engine
    if MODES[name].masks and not engine.capabilities.masks:
        raise BadParameter(f"{engine.name} tells texts only, which the mode {name} cannot use: take mode=free.")
    if speaker.sampling.explores and not engine.capabilities.samplers:
        raise BadParameter(
            f"{engine.name} cannot draw by the sampler {speaker.sampling.sampler}: leave it out, or take an engine "
            "that can, such as transformers."
        )
    check_style(name, speaker.style, view)
    if name == "prefix":
        check_prefix(speaker, view)
    prompt = speaker.prompt(view)
    if name == "single":
        speaker.compiler.labels(view.choices, prompt)


def check_prefix(speaker: Speaker, view: View[Any]) -> None:
    """Refuse the mode prefix for a model with masks, and in a situation whose actions it cannot tell apart."""
    if speaker.engine.capabilities.masks:
        raise BadParameter(
            f"The mode prefix is for a model behind a server: for {speaker.engine.name} take mode=direct."
        )
    try:
        Openings(view.choices)
    except CannotCompute as error:
        raise BadParameter(f"{error} Take mode=free.") from error


def check_style(mode: str, style: Style, view: View[Any]) -> None:
    """Refuse a style that the mode or the game does not admit, as far as can be decided without a model."""
    if MODES[mode].marked and not style.mark:
        raise BadParameter(
            f"The mode {mode} goes by the mark before the action, which this style lacks: take style=reasoned or "
            "style=gtbench-reasoned, or mode=direct."
        )
    style.messages(view)


def elicitation(choices: Choices) -> str:
    """Return the short question after a reply that named no action."""
    return f"Your final action? You may play: {choices.summary(_NAMED)}.\nAnswer with the action alone."


def move_of_replies(action: str | None, how: How, calls: tuple[Call, ...]) -> Move:
    """Return the move from the last of some replies; one without a legal action is data."""
    last = calls[-1]
    if last.failed:
        return Move(None, "error", calls, last.text)
    return Move(action, how, calls) if action is not None else Move(None, "illegal", calls, last.text)


def read_free(choices: Choices, guide: Free, call: Call, close: str = "") -> Move:
    """Return the action at which a free reply was stopped, or the one that it names at its end."""
    action = guide.action if guide.action is not None else find_named(choices, guide.text, call, close)
    return move_of_replies(action, "free", (call,))


def read(choices: Choices, call: Call, close: str = "") -> Move:
    """Return the action that a text from a server names at its end."""
    action = None if call.finish in UNSAID else find_named(choices, after_thinking(call.text), call, close)
    return move_of_replies(action, "free", (call,))


def find_named(choices: Choices, text: str, call: Call, close: str) -> str | None:
    """Return the action that a reply names at its end; none where it was truncated and may go on as another one."""
    said = before(text, close)
    truncated = call.finish == "length" and said == text
    return (choices.parse_truncated(said) if truncated else choices.parse(said)).action


def before(text: str, close: str) -> str:
    """Return the text up to the last closing tag; all of it without one.

    The tag is searched in the text, not in tokens.
    """
    head, tag, _ = text.rpartition(close) if close else ("", "", "")
    return head if tag else text
