"""Activation checkpointing: layers store their inputs alone, and recompute the rest in the backward pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint


@contextmanager
def checkpointed_activations(decoder: torch.nn.Module) -> Iterator[None]:
    """Checkpoint the activations of these layers in the forward passes of the context.

    A model's own switch works only while it is training, when its dropout works too; ours leaves that as it is.
    The weights, the active adapter among them, must be the same until the backward pass is over.
    """
    from transformers.modeling_layers import GradientCheckpointingLayer

    layers = [module for module in decoder.modules() if isinstance(module, GradientCheckpointingLayer)]
    for layer in layers:
        layer.forward = _again(layer.forward)
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward


def _again(forward: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **options: Any) -> Any:
        return checkpoint(forward, *args, use_reentrant=False, **options)

    return run
