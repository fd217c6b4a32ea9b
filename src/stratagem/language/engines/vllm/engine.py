"""vLLM in this process as the engine of a learner: its own copy of the base, and the learner's adapters by version."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from weakref import finalize

from stratagem.base.errors import BadParameter
from stratagem.language.engines.base import Capabilities
from stratagem.language.engines.vllm.adapters import Adapters
from stratagem.language.engines.vllm.core import CopyEngine
from stratagem.language.engines.vllm.runtime import LocalRuntime, check_installed, installed_version
from stratagem.language.engines.vllm.served_by import Runtime
from stratagem.language.engines.vllm.settings import ENGINE, VLLMSettings
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.merging import write_base
from stratagem.language.models.reference import parse_model

_DEFAULTS = VLLMSettings()


class VLLMEngine(CopyEngine):
    """Engine of one base model and the adapters on it, in this process."""

    capabilities = Capabilities(masks=True, scores=True, copies=True)

    def __init__(self, lm: LanguageModel, settings: VLLMSettings = _DEFAULTS) -> None:
        check_installed()
        if parse_model(lm.name).four_bit:
            raise BadParameter(f"{ENGINE} cannot read the 4-bit weights of {lm.name}: leave +4bit out.")
        base = _Base(lm, settings)
        super().__init__(lm, Adapters(lm, ENGINE, settings.max_adapters, settings.max_rank), base.start)
        self._base = base
        lm.reading["rollouts"] = f"by {installed_version()} and its cache of prefixes"

    def _publish_base(self) -> None:
        """Stop vLLM until the next request.

        vLLM could read weights anew in place, but 0.32 leaves a head that is tied to the embeddings as it was.
        """
        self._base.forget()
        self.batch.stop()


class _Base:
    """Folder of the base's present weights, by which vLLM is started."""

    def __init__(self, lm: LanguageModel, settings: VLLMSettings) -> None:
        self.lm = lm
        self.settings = settings
        self._folder = Path(lm.folder) if lm.folder else None
        """None where the weights are still to be written."""

    def start(self) -> Runtime:
        """Start vLLM."""
        return LocalRuntime(self._folder or self._write_weights(), self.lm.dtype, self.settings)

    def _write_weights(self) -> Path:
        """Write the present weights into a folder of our own."""
        self._folder = Path(tempfile.mkdtemp(prefix="stratagem-vllm-base-"))
        finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        write_base(self.lm, self._folder)
        return self._folder

    def forget(self) -> None:
        """Write the weights again before the next start."""
        if self._folder is not None and self._folder != Path(self.lm.folder):
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None
