"""Player that ends its process, in a module that loads fast in a worker."""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from stratagem.players.base import Traits
from stratagem.players.catalogue import make_player


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
