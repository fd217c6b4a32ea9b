"""Work of several ranks: `torchrun on_ranks.py FOLDER` makes the runs and the steps, or continues the runs there."""

import json
import sys
import warnings
from pathlib import Path

import torch
from rank_cases import ADAPTERS, LOSSES, WHOLE, gradient, settings_of
from working import trained

from stratagem.algorithms.catalogue import bound, recipe_of
from stratagem.api.devices import sharing_ranks
from stratagem.playing.workers.plan import current
from stratagem.training.runs.folder import RunFolder


def resume(folder):
    """Continue the run in a folder."""
    run = RunFolder.open(folder)
    bound(recipe_of(run), run).train()


def make_all(folder):
    torch.save({loss: gradient(loss)[0] for loss in LOSSES}, folder / "gradients.pt")
    for whole, names in ((False, ADAPTERS), (True, WHOLE)):
        for name in names:
            trained(folder / f"{'whole' if whole else 'adapter'}-{name}", name, **settings_of(name, whole=whole))


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    with sharing_ranks(None, None):
        runs = [Path(text) for text in sys.argv[2:]]
        for run in runs:
            resume(run)
        if not runs:
            make_all(folder)
        (folder / "ranks.json").write_text(json.dumps(current().workers.num_workers))


if __name__ == "__main__":
    main()
