"""Training on several devices: one process each, under the agent of torch's launcher, which ends all if one is lost."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.file_modules import HandedFiles, handed_files, load_again
from stratagem.base.options import whole
from stratagem.playing.workers.plan import working
from stratagem.playing.workers.processes import visible_devices
from stratagem.playing.workers.ranks import RankPlace, RankWorkers, find_place, serve
from stratagem.playing.workers.threads import available_threads, count_cores, use_threads

_SECONDS = 5
"""Seconds in which the other processes may end by themselves when one is lost."""
Train = Callable[..., Any]


class _RankCall(NamedTuple):
    """Call of `train` for every rank."""

    train: Train
    arguments: Mapping[str, Any]
    files: HandedFiles
    terms: Any
    num_threads: int
    working_folder: str


def check_devices(devices: int) -> None:
    """Refuse more devices than this machine has: GPUs, or cores where there are none."""
    whole("The call", "devices", devices, 1)
    gpus, cores = len(visible_devices()), count_cores()
    there = f"{gpus} GPUs" if gpus else f"no GPU, and {cores} cores"
    if devices > (gpus or cores):
        raise BadParameter(f"`devices` cannot be {devices}: this machine has {there}.")


@contextmanager
def sharing_ranks(workers: int | None, ray: str | None) -> Iterator[None]:
    """Share the work with the other ranks within, in a process that torch's launcher began; the others serve, and end.

    In any other process it does nothing.
    """
    place = find_place()
    if place is not None and (workers is not None or ray is not None):
        raise BadParameter("Devices share play and learning already: leave `workers=` and `ray=` out.")
    if place is not None and place.rank:
        serve(place)
        sys.exit(0)
    with ExitStack() as stack:
        if place is not None:
            stack.enter_context(working(RankWorkers(place)))
        yield


def is_rank() -> bool:
    """Return whether torch's launcher began this process as one of several."""
    return find_place() is not None


def train_on_devices(devices: int, train: Train, arguments: Mapping[str, Any]) -> Path:
    """Carry out a call of `train` by a process for each device, and return the folder of the run."""
    from stratagem.language.engines.remote import terms
    from stratagem.language.engines.remote.budget import current_budget

    check_devices(devices)
    if current_budget() is not None:
        raise BadParameter(
            f"A budget is kept by one program: begin it by `torchrun --nproc-per-node {devices} -m stratagem train` "
            "without `devices=`."
        )
    number = max(1, available_threads() // devices)
    call = _RankCall(train, arguments, handed_files(), terms.current(), number, str(Path.cwd()))
    outcome = _launch(devices, call)
    if isinstance(outcome, StratagemError):
        raise outcome
    if outcome is None:
        raise KeyboardInterrupt
    return Path(outcome)


def _launch(devices: int, call: _RankCall) -> Any:
    """Begin the processes under torch's agent, and return what the first one does; None after an interrupt."""
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    logging.getLogger("torch.distributed.elastic").setLevel(logging.CRITICAL)  # our own sentence says what happened
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=devices,
        run_id=f"stratagem-{os.getpid()}",
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        max_restarts=0,
        shutdown_timeout=_SECONDS,
    )
    try:
        return elastic_launch(config, _train_on_rank)(call)[0]
    except SignalException:
        return None
    except ChildFailedError as error:
        rank, failure = error.get_first_failure()
        how = f"by signal {-failure.exitcode}" if failure.exitcode < 0 else f"with status {failure.exitcode}"
        raise StratagemError(
            f"The process of device {rank} ended {how}, and so the others were ended: the run can be resumed."
        ) from None


def _train_on_rank(call: _RankCall) -> Any:
    """Train in the process of a rank, and return the folder of the run, or the mistake of a user."""
    from stratagem.language.engines.remote import terms

    os.chdir(call.working_folder)
    use_threads(call.num_threads)
    place = find_place() or RankPlace(0, 1, 0)
    try:
        if place.rank:
            return serve(place)
        load_again(call.files)
        with terms.use(call.terms):
            return str(call.train(**call.arguments).path)
    except StratagemError as error:
        return error
    except Exception:
        traceback.print_exc()
        raise
