"""A vLLM server as the engine of a learner: the server has the base, and reads each version of an adapter."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from weakref import finalize

from stratagem.base.consent.table import check_host
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.language.engines.base import Capabilities, RequestAnswer
from stratagem.language.engines.remote.retries import Patience
from stratagem.language.engines.vllm.client import Client
from stratagem.language.engines.vllm.connect import connect_runtime
from stratagem.language.engines.vllm.core import CopyEngine
from stratagem.language.engines.vllm.server_runtime import ServerRuntime
from stratagem.language.engines.vllm.server_settings import ENGINE, VLLMServerSettings, check_installed
from stratagem.language.models.language_model import LanguageModel


class VLLMServerEngine(CopyEngine):
    """Engine of one base model and the adapters on it, behind an address."""

    capabilities = Capabilities(masks=True, scores=True, copies=True)

    def __init__(self, lm: LanguageModel, settings: VLLMServerSettings) -> None:
        check_installed()
        check_host(settings.url)
        client = Client(settings.url, Patience(timeout=settings.timeout, tries=settings.tries), settings.rows)
        runtime, adapters = connect_runtime(client, lm, settings)
        super().__init__(lm, adapters, lambda: runtime)
        finalize(self, _close, runtime)
        lm.reading["rollouts"] = "by a vLLM server and its cache of prefixes"

    def poll(self, tickets: Collection[int], *, wait: bool = True) -> list[RequestAnswer]:
        """Return the calls of those of the open tickets that are answered; with `wait`, at least one."""
        with self._lock:
            self._wait = wait
            try:
                return super().poll(tickets, wait=wait)
            finally:
                self._wait = True

    def _publish_base(self) -> None:
        """Refuse new weights of the base."""
        raise BadParameter(
            f"{ENGINE} cannot give a server new weights of the base: train an adapter, or take the engine vllm."
        )


def _close(runtime: ServerRuntime) -> None:
    """Unload the adapters; a server that is gone has none."""
    with suppress(StratagemError):
        runtime.close()
