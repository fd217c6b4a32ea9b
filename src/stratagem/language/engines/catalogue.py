"""Every kind of engine by name; importing this loads none of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from stratagem.base.errors import MissingExtra
from stratagem.base.registry import Registry
from stratagem.language.engines.base import Engine, TrainableEngine
from stratagem.language.engines.spec import EngineSpec, TrainableEngineSpec
from stratagem.language.engines.transformers_settings import TransformersSettings
from stratagem.language.engines.vllm.server_settings import VLLMServerSettings
from stratagem.language.engines.vllm.server_settings import missing as server_missing
from stratagem.language.engines.vllm.settings import VLLMSettings, missing
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.reference import ModelRef


@dataclass(frozen=True, kw_only=True)
class Transformers(TransformersSettings, TrainableEngineSpec):
    """Engine in this process that answers by the learner's own weights, many requests in one batch."""

    def open(self, lm: LanguageModel) -> TrainableEngine:
        from stratagem.language.engines.transformers_engine import TransformersEngine

        return TransformersEngine(lm, self)

    def serve(self, ref: ModelRef) -> TrainableEngine:
        """Open an engine of a model that is not trained here; one of our own is read without transformers."""
        from stratagem.language.models.load import load_to_serve

        return self.open(load_to_serve(ref))


@dataclass(frozen=True, kw_only=True)
class VLLM(VLLMSettings, TrainableEngineSpec):
    """vLLM in this process, with a copy of the base and of each adapter; a run compares it with the learner first."""

    @classmethod
    def missing(cls) -> str | None:
        return missing()

    def open(self, lm: LanguageModel) -> TrainableEngine:
        from stratagem.language.engines.vllm.engine import VLLMEngine

        return VLLMEngine(lm, self)

    def serve(self, ref: ModelRef) -> TrainableEngine:
        """Open an engine of a model that is not trained here; transformers has its weights on the CPU alone."""
        from stratagem.language.models.load import load

        return self.open(load(ref, device="cpu"))


@dataclass(frozen=True, kw_only=True)
class VLLMServer(VLLMServerSettings, TrainableEngineSpec):
    """vLLM behind an address, with adapters by version; the server has the base and our processor."""

    @classmethod
    def missing(cls) -> str | None:
        return server_missing()

    def open(self, lm: LanguageModel) -> TrainableEngine:
        from stratagem.language.engines.vllm.server_engine import VLLMServerEngine

        return VLLMServerEngine(lm, self)

    def serve(self, ref: ModelRef) -> TrainableEngine:
        """Open an engine of a model that is not trained here; transformers has its weights on the CPU, to compare."""
        from stratagem.language.models.load import load

        return self.open(load(ref, device="cpu"))


@dataclass(frozen=True, kw_only=True)
class API(EngineSpec):
    """Engine of a model behind an OpenAI-compatible server; it cannot be trained, and replies are free text.

    Its settings are options of the command line, such as `--timeout`.
    """

    @classmethod
    def missing(cls) -> str | None:
        return None if find_spec("openai") and find_spec("httpx2") else str(MissingExtra("The engine api", "api"))

    def serve(self, ref: ModelRef) -> Engine:
        from stratagem.language.engines.openai_engine import OpenAIEngine

        return OpenAIEngine(ref)


ENGINES: dict[str, Callable[..., EngineSpec]] = {
    "transformers": Transformers,
    "vllm": VLLM,
    "vllm-server": VLLMServer,
    "api": API,
}
"""Kinds of engines by name."""

engines: Registry[EngineSpec] = Registry("engine", ENGINES, "stratagem.engines", EngineSpec)
"""The same with those of other packages."""
