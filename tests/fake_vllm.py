"""A stand-in for vLLM in this process: its schedule, its batch and its processor interface, with transformers' logits.

Where vLLM is installed, the tests run with it instead.
"""

import json
from importlib.util import find_spec
from itertools import count
from types import SimpleNamespace

import torch

from stratagem.engines.vllm.processors import V1Shell, V2Shell
from stratagem.engines.vllm.rows import KEY, numbered
from stratagem.engines.vllm.served_by import Output
from stratagem.models.adapter_files import BASE
from stratagem.models.adapters import active, adapter_names, load_adapter
from stratagem.models.load import load

INSTALLED = find_spec("vllm") is not None
CHUNK = 200
"""Number of prompt tokens that are read in one step."""


class FakeRuntime:
    """vLLM's engine: it reads prompts in chunks, asks for a token after each, and keeps what the processor leaves."""

    version = 1
    num_started = 0

    def __init__(self, folder, dtype, settings):
        self.lm = load(f"dir:{folder}", dtype=dtype)
        self.settings = settings
        self.longest = settings.max_model_len or self.lm.model.config.max_position_embeddings
        self.shell = V1Shell(None, torch.device("cpu"), False) if self.version == 1 else V2Shell(None, None)
        self.requests, self.loras, self._names = {}, {}, count()
        self.num_read = self.num_steps = 0
        type(self).num_started += 1

    def add(self, row, tokens, room, adapter):
        assert 0 < len(tokens) < self.longest
        assert 0 < room <= self.longest - len(tokens)
        if adapter is not None and adapter.number not in self.loras:
            if (adapter.folder / BASE).is_file():  # vLLM does not read the note of the base
                self.lm.fingerprint = json.loads((adapter.folder / BASE).read_text())["fingerprint"]
            if (name := f"lora{adapter.number}") not in adapter_names(self.lm):
                load_adapter(self.lm, adapter.folder, name)
            self.loras[adapter.number] = name
        assert len(self.loras) <= self.settings.max_adapters, "one slot stays empty"
        params = SimpleNamespace(extra_args={KEY: numbered(row)})
        name = str(next(self._names))
        lora = self.loras[adapter.number] if adapter is not None else None
        self.requests[name] = SimpleNamespace(
            params=params, tokens=list(tokens), known=0, room=room, lora=lora, slot=None, prompt=len(tokens)
        )
        return name

    def step(self, *, wait=True):
        some = dict(list(self.requests.items())[: self.settings.rows])
        rows = []
        for one in some.values():
            start, one.known = one.known, min(len(one.tokens), one.known + CHUNK)
            self.num_read += one.known - start
            with torch.no_grad(), active(self.lm, one.lora):
                ids = torch.tensor([one.tokens[: one.known]])
                rows.append(self.lm.model(input_ids=ids, use_cache=False, logits_to_keep=1).logits[0, -1])
        self.num_steps += 1
        logits = self._processed(list(some.values()), torch.stack(rows).float())
        outputs = []
        for (name, one), token in zip(some.items(), logits.argmax(-1).tolist(), strict=True):
            if one.known == len(one.tokens):
                one.tokens.append(token)
                one.room -= 1
                outputs.append(Output(name, [token], one.room == 0))
                if one.room == 0:
                    del self.requests[name]
        return outputs

    def _processed(self, some, logits):
        if self.version == 1:
            added = [(row, one.params, [], []) for row, one in enumerate(some)]
            removed = list(self.shell._held)
            self.shell.update_state(SimpleNamespace(removed=removed, added=added, moved=[]))
            return self.shell.apply(logits)
        slots = []
        for one in some:
            if one.slot is None:
                taken = {other.slot for other in self.requests.values()}
                one.slot = next(slot for slot in range(99) if slot not in taken)
                self.shell.add_request(one.slot, one.params)
            slots.append(one.slot)
        return self.shell.apply(logits, SimpleNamespace(expanded_idx_mapping=torch.tensor(slots)))

    def abort(self, names):
        for name in names:
            self.requests.pop(name, None)

    def unload(self, adapter):
        self.loras.pop(adapter.number, None)

    def reset(self):
        assert not self.requests

    def close(self):
        assert not self.requests


class FakeRuntimeV2(FakeRuntime):
    """The same with the interface of Model Runner V2."""

    version = 2


def install(monkeypatch, runtime=FakeRuntime):
    """Serve engines by the stand-in."""
    monkeypatch.setattr("stratagem.engines.vllm.engine.check_installed", lambda: None)
    monkeypatch.setattr("stratagem.engines.vllm.engine.LocalRuntime", runtime)
    runtime.num_started = 0
