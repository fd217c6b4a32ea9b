"""A stand-in for vLLM: its schedule, its batch and its processor interfaces, with transformers' logits.

Where vLLM is installed, the tests run with it instead.
"""

import json
from importlib.util import find_spec
from itertools import count
from types import SimpleNamespace

import torch

from stratagem.language.engines.vllm.processors import V1Shell, V2Shell
from stratagem.language.engines.vllm.rows import KEY, number_of_row
from stratagem.language.engines.vllm.served_by import Output
from stratagem.language.models.adapter_files import BASE
from stratagem.language.models.adapters import active, adapter_names, load_adapter
from stratagem.language.models.load import load

INSTALLED = find_spec("vllm") is not None
CHUNK = 200
"""Number of prompt tokens that are read in one step."""


def config_of(lm, max_loras, max_rank=32, max_logprobs=52):
    """The part of vLLM's configuration that a processor reads."""
    size = lm.model.get_input_embeddings().num_embeddings
    return SimpleNamespace(
        device_config=SimpleNamespace(device=torch.device("cpu")),
        scheduler_config=SimpleNamespace(async_scheduling=False),
        lora_config=SimpleNamespace(max_loras=max_loras, max_lora_rank=max_rank),
        model_config=SimpleNamespace(
            max_logprobs=max_logprobs, tokenizer=str(lm.folder), tokenizer_revision=None, get_vocab_size=lambda: size
        ),
    )


class Shells:
    """A batch for a processor of either interface."""

    def __init__(self, version, config=None):
        self.version, self.config = version, config
        self.num_rows = 0
        self.states = _States()
        self.shell = V1Shell(config, torch.device("cpu"), False) if version == 1 else V2Shell(config, self.states)

    def process(self, some, logits):
        """Let the processor write rows of the logits; `some` are the requests, in order."""
        return self._first(some, logits) if self.version == 1 else self._second(some, logits)

    def _first(self, some, logits):
        added = [(row, one.params, one.tokens[: one.prompt], one.said) for row, one in enumerate(some)]
        self.shell.update_state(SimpleNamespace(removed=range(self.num_rows), added=added, moved=[]))
        self.num_rows = len(some)
        return self.shell.apply(logits)

    def _second(self, some, logits):
        taken = {one.slot for one in some}
        for one in some:
            if one.slot is None:
                one.slot = next(slot for slot in count() if slot not in taken)
                taken.add(one.slot)
                self.shell.add_request(one.slot, one.params)
            self.states.tell(one.slot, one)
        slots = [one.slot for one in some]
        pos = torch.tensor([one.known - 1 for one in some])
        return self.shell.apply(logits, SimpleNamespace(expanded_idx_mapping=torch.tensor(slots), pos=pos))


class _States:
    """Tokens by slot, as Model Runner V2 has them."""

    def __init__(self):
        self._rows = {}
        self.all_token_ids = SimpleNamespace(gpu=self)
        self.prompt_len = SimpleNamespace(np={})

    def tell(self, slot, one):
        self.prompt_len.np[slot] = one.prompt
        self._rows[slot] = torch.tensor(one.tokens)

    def __getitem__(self, place):
        slot, some = place
        return self._rows[slot][some]


class FakeVLLM:
    """It reads prompts in chunks, asks for a token after each, and keeps what the processor leaves."""

    def __init__(self, folder, dtype, *, rows, longest, slots, version=1, serves=False):
        self.lm = load(f"dir:{folder}", dtype=dtype)
        self.lm.folder = self.lm.folder or folder
        self.rows, self.slots = rows, slots
        self.longest = longest or self.lm.model.config.max_position_embeddings
        self.shells = Shells(version, config_of(self.lm, slots) if serves else None)
        self.requests, self.loras, self._names = {}, {}, count()
        self.num_read = self.num_steps = 0

    def add_request(self, extra, tokens, room, lora=None, stop=None, best=1):
        assert 0 < len(tokens) < self.longest
        assert 0 < room <= self.longest - len(tokens)
        name = str(next(self._names))
        self.requests[name] = SimpleNamespace(
            params=SimpleNamespace(extra_args=extra), tokens=list(tokens), said=[], known=0, room=room,
            lora=lora and self.loras[lora], prompt=len(tokens), stop=stop, best=best, slot=None,
        )  # fmt: skip
        return name

    def load(self, key, folder):
        if key in self.loras:
            return
        if (folder / BASE).is_file():  # vLLM does not read the note of the base
            self.lm.fingerprint = json.loads((folder / BASE).read_text())["fingerprint"]
        if (name := f"lora{key}".replace(".", "_")) not in adapter_names(self.lm):
            load_adapter(self.lm, folder, name)
        self.loras[key] = name

    def run(self):
        """One step: the name of each request that got a token, the token, the best tokens, and whether it is over."""
        some = dict(list(self.requests.items())[: self.rows])
        rows = []
        for one in some.values():
            start, one.known = one.known, min(len(one.tokens), one.known + CHUNK)
            self.num_read += one.known - start
            with torch.no_grad(), active(self.lm, one.lora):
                ids = torch.tensor([one.tokens[: one.known]])
                rows.append(self.lm.model(input_ids=ids, use_cache=False, logits_to_keep=1).logits[0, -1])
        self.num_steps += 1
        logits = self.shells.process(list(some.values()), torch.stack(rows).float())
        outputs = []
        for (name, one), row, token in zip(some.items(), logits, logits.argmax(-1).tolist(), strict=True):
            if one.known < len(one.tokens):
                continue
            one.tokens.append(token)
            one.said.append(token)
            one.room -= 1
            over = one.room == 0 or token == one.stop
            best = torch.log_softmax(row, -1).topk(one.best)
            outputs.append((name, token, dict(zip(best.indices.tolist(), best.values.tolist(), strict=True)), over))
            if over:
                del self.requests[name]
        return outputs


class FakeRuntime(FakeVLLM):
    """vLLM in this process."""

    version = 1
    num_started = 0

    def __init__(self, folder, dtype, settings):
        slots = settings.max_adapters + 1
        super().__init__(
            folder, dtype, rows=settings.rows, longest=settings.max_model_len, slots=slots, version=self.version
        )
        type(self).num_started += 1

    def add(self, row, tokens, room, adapter):
        if adapter is not None:
            self.load(adapter.number, adapter.folder)
        assert len(self.loras) < self.slots, "one slot stays empty"
        return self.add_request({KEY: number_of_row(row)}, tokens, room, None if adapter is None else adapter.number)

    def step(self, *, wait=True):
        return [Output(name, [token], over) for name, token, _, over in self.run()]

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
    monkeypatch.setattr("stratagem.language.engines.vllm.engine.check_installed", lambda: None)
    monkeypatch.setattr("stratagem.language.engines.vllm.engine.LocalRuntime", runtime)
    runtime.num_started = 0
