"""Model at a table: its prompts, its sampling, and the tokens of its choices."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.games.base import View
from stratagem.games.choices import Choices
from stratagem.games.key import Key
from stratagem.games.open_text import OpenText
from stratagem.language.decoding.exact import Tree, tree_of
from stratagem.language.decoding.guides import After, Free, MarkedGuide
from stratagem.language.decoding.line import OpenLine
from stratagem.language.decoding.pattern import PatternLine
from stratagem.language.decoding.spelling import end_of, spell
from stratagem.language.decoding.stopping import StopRule
from stratagem.language.decoding.vocabulary import Vocabulary
from stratagem.language.decoding.walker import Walker
from stratagem.language.engines.base import LIKELIEST, PLAIN, Chat, Engine, Guide, Prompt, Request, Sampling
from stratagem.language.prompting.base import Style
from stratagem.language.prompting.past import NOTHING, Past

_TAIL = 12
"""Number of the prompt's last tokens that settle the spelling of an action after it."""
_KEPT = 1024
"""Number of compiled choices to cache."""
ACTION = 1 << 14
"""Room in tokens for any action that is spelt out down the trie."""


class Compiler:
    """Choices as a tokenizer writes them, cached."""

    def __init__(self, vocabulary: Vocabulary, ends: frozenset[int], *, mid_text: bool = False) -> None:
        self.vocabulary = vocabulary
        self._ends = ends
        self._mid_text = mid_text
        self._walker = lru_cache(_KEPT)(self._compile_choices)
        self._text = lru_cache(_KEPT)(vocabulary.decode)
        self._labels = lru_cache(_KEPT)(self._label_choices)
        self.stop_rule = lru_cache(_KEPT)(self._stop_rule)
        self.tree = lru_cache(_KEPT)(self._walk_tree)

    def walker(self, choices: Choices, prompt: Prompt) -> Walker | OpenLine | PatternLine:
        """Return the trie of these choices right after a prompt; of open text its line."""
        return self._walker(choices, end_of(self._text(prompt.tokens[-_TAIL:])), "")

    def after(self, choices: Choices, lead: str) -> After:
        """Return the trie of these choices as a function of the text before them."""
        return After(self._walker, choices, lead)

    def labels(self, choices: Choices, prompt: Prompt) -> dict[int, str]:
        """Return each action by its only token; refused where one has several, or two have the same."""
        if choices.is_open:
            raise BadParameter(
                "The mode single needs actions of one token each, and open text has more: take mode=direct."
            )
        return self._labels(choices, self._text(prompt.tokens[-_TAIL:]))

    def _compile_choices(self, choices: Choices, left: str, lead: str) -> Walker | OpenLine | PatternLine:
        if isinstance(choices, OpenText):
            if choices.patterns:
                return PatternLine(choices, self.vocabulary, left, lead)
            return OpenLine(choices, self.vocabulary, self._ends, left)
        return Walker(choices, self.vocabulary, left, lead)

    def _stop_rule(self, choices: Choices) -> StopRule:
        """When a free reply about these choices is complete."""
        return StopRule(choices, self._mid_text)

    @staticmethod
    def _walk_tree(walker: Walker) -> Tree:
        return tree_of(walker)

    def _label_choices(self, choices: Choices, left: str) -> dict[int, str]:
        actions = list(choices) if choices.count <= _KEPT else []
        spellings = spell(self.vocabulary, actions, left)
        spelt = {ids[0]: action for action, ids in zip(actions, spellings, strict=True) if len(ids) == 1}
        if not actions or len(spelt) < len(actions):
            missing = next((action for action in actions if action not in spelt.values()), "a sheet of orders")
            raise BadParameter(
                f"The mode single needs actions of one token each, unlike {missing!r}: take mode=direct."
            )
        return spelt


def with_system(system: str, messages: Chat) -> Chat:
    """Put a text before a conversation; many models know one message of the system only."""
    (role, content), *rest = messages
    if role != "system":
        return ("system", system), *messages
    return ("system", f"{system}\n\n{content}"), *rest


@dataclass(frozen=True, kw_only=True)
class Speaker:
    """Weights, prompt style, sampling and length of a model's replies."""

    engine: Engine
    adapter: str = ""
    style: Style
    sampling: Sampling = PLAIN
    max_new_tokens: int = 256
    mid_text: bool = False
    system: str = ""
    """Text before the messages of the style, in the role of the system."""
    extra_body: str = ""

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields alone; what was compiled is compiled again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def compiler(self) -> Compiler:
        """The choices in the engine's tokens."""
        return Compiler(self.engine.vocabulary, self.engine.ends, mid_text=self.mid_text)

    def prompt(self, view: View[Any], past: Past = NOTHING, refused: str | None = None) -> Prompt:
        """Return the prompt of a seat; after a refused reply it may tell of that."""
        return self.engine.begin(self.chat(view, past, refused))

    def chat(self, view: View[Any], past: Past = NOTHING, refused: str | None = None) -> Chat:
        """Return the messages of the prompt of a seat."""
        asked = self.style.messages(view, past)
        again = asked if refused is None else self.style.ask_again(asked, refused)
        messages = tuple((m.role, m.content) for m in again)
        return with_system(self.system, messages) if self.system else messages

    def ask(self, prompt: Prompt, guide: Guide, key: Key, max_new_tokens: int, *, extended: bool = False) -> Request:
        """Return a request for a reply."""
        return Request(
            engine=self.engine,
            prompt=prompt,
            guide=guide,
            key=key,
            adapter=self.adapter,
            sampling=self.sampling,
            max_new_tokens=max_new_tokens,
            extended=extended,
            extra_body=self.extra_body,
        )

    def ask_likeliest(self, prompt: Prompt, guide: Guide, key: Key) -> Request:
        """Return a request for the most likely action, which is no sample."""
        return replace(self.ask(prompt, guide, key, ACTION), sampling=LIKELIEST)

    def free(self, choices: Choices, prompt: Prompt) -> Free:
        """Return a guide for free text about these choices."""
        engine = self.engine
        return Free(self.compiler.stop_rule(choices), engine.vocabulary, engine.ends, prompt.tokens[-_TAIL:])

    def guide_to_mark(self, choices: Choices, prompt: Prompt) -> MarkedGuide:
        """Return a guide for free text up to the style's mark, and then one of these choices."""
        engine, style = self.engine, self.style
        after = self.compiler.after(choices, style.lead)
        return MarkedGuide(
            after, style.mark, engine.vocabulary, engine.ends, self.max_new_tokens, prompt.tokens[-_TAIL:]
        )
