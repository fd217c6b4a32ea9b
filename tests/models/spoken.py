"""Outputs of a model, for comparing models."""

import torch


def logits(model, text="Your card: Q.\nIt is your turn."):
    with torch.no_grad():
        return model.model(torch.tensor([model.encode(text)])).logits[0]
