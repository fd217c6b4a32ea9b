"""Player that ends its process, and an engine that is wrong in one worker, in a module that loads fast there."""

import fcntl
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import ClassVar

from stratagem.language.engines.catalogue import Transformers
from stratagem.language.engines.spec import TrainableEngineSpec
from stratagem.players.base import Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.workers.models import weights_of
from stratagem.playing.workers.processes import Begin


@dataclass(frozen=True)
class Fatal:
    """Ends its process at its first turn, and again until the file has `times` lines."""

    file: Path
    times: int
    name: ClassVar[str] = "fatal"
    traits: ClassVar[Traits] = Traits(exact=False)

    def turn(self, ask):
        with self.file.open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # else two processes read before either writes
            file.seek(0)
            if len(file.readlines()) < self.times:
                file.write("died\n")
                file.flush()
                os._exit(9)
        return make_player("random", ask.view.game).turn(ask)


@dataclass(frozen=True)
class WrongInOneWorker(TrainableEngineSpec):
    """Opens an exact engine, but in the first worker that finds no mark: there all scores are half a nat too low."""

    mark: str = ""
    """File that this worker makes."""
    tester: int = 0
    """Process of the test, which is no worker."""

    def open(self, lm):
        engine = Transformers().open(lm)
        if os.getpid() != self.tester and not Path(self.mark).exists():
            with suppress(FileExistsError), Path(self.mark).open("x") as file:
                file.write(str(os.getpid()))
                exact = engine.score
                engine.score = lambda requests: [
                    tuple(tuple(value - 0.5 for value in row) for row in rows) for rows in exact(requests)
                ]
        return engine


def own_process(_):
    """The number of this process."""
    return os.getpid()


def end_once(file):
    """End this process where the file is not there yet."""
    with suppress(FileExistsError), file.open("x"):
        os._exit(9)
    return os.getpid()


def end_in_long_message(item):
    """A long result; a process that sends it as one message is lost in the middle."""

    def send_half(connection, data):
        os.write(connection.fileno(), bytes(data)[: len(data) // 2])
        os._exit(1)

    short, Connection._send = Connection._send, lambda own, data: (send_half if len(data) > 4096 else short)(own, data)
    return item * 100_000


class LastProcessLost(Begin):
    """Beginning of processes of which the second ends before it takes work, while a file is not there.

    Each starts slowly, so that nothing else is done meanwhile.
    """

    def __getstate__(self):
        time.sleep(0.3)
        return super().__getstate__()

    def __call__(self):
        with self.numbers.get_lock():
            self.numbers.value += 1
            is_second = self.numbers.value == 2
        if is_second:
            end_once(Path(os.environ["FILE_OF_THE_LOSS"]))
        super().__call__()


def add_weights(adapter, engine):
    """The sum of each weight of an adapter (empty: of the base)."""
    return [float(weight.detach().double().sum()) for weight in weights_of(engine.lm, adapter)]
