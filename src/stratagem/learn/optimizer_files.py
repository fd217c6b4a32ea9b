"""Tensors of an optimizer's state as safetensors, written and read by torch's distributed checkpoint.

Every rank writes its own part, and any number of ranks, or one process, reads what it needs of all parts. Nothing is a
pickle, unlike in torch's default format.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import torch
from torch import distributed

from stratagem.base.errors import BadRecord

STATE = "optimizer"
"""Folder of the tensors in a checkpoint."""


def write_tensors(tensors: Mapping[str, torch.Tensor], folder: Path) -> None:
    """Write tensors, of which each rank has a part; all ranks write together."""
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter
    from torch.distributed.checkpoint.state_dict_saver import save

    save(dict(tensors), storage_writer=HuggingFaceStorageWriter(str(folder), save_distributed=True))


def read_tensors(tensors: Mapping[str, torch.Tensor], folder: Path) -> None:
    """Fill tensors, or the parts of them that this rank has; all ranks read together."""
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader
    from torch.distributed.checkpoint.state_dict_loader import load

    _check_shards(tensors, folder)
    reader = HuggingFaceStorageReader(str(folder))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "torch.distributed is disabled")  # one process alone, on purpose
        load(dict(tensors), storage_reader=reader, no_dist=not distributed.is_initialized())


def _check_shards(tensors: Mapping[str, torch.Tensor], folder: Path) -> None:
    """Refuse a folder from which a shard is missing, or whose shards are of other weights."""
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader

    reader = HuggingFaceStorageReader(str(folder))
    known: Mapping[str, Any] = reader.read_metadata().state_dict_metadata if folder.is_dir() else {}
    for name, tensor in tensors.items():
        found = known.get(name)
        size = 0 if found is None else sum(prod(chunk.sizes) for chunk in found.chunks)
        if found is None or found.size != tensor.shape or size != tensor.numel():
            raise BadRecord(
                f"{folder} has no whole optimizer for these weights: restore its shards, all of which any number of "
                "devices reads, or resume from another checkpoint."
            )
