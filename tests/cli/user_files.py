"""Files with a game and players of a user, in a folder that nothing was loaded from."""

import shutil
import sys
from pathlib import Path

from stratagem.base import file_modules
from stratagem.base.consent.table import allow, commanding
from stratagem.measure.metrics import METRICS

EXAMPLES = Path(__file__).parents[2] / "examples"
BOTS = """
from dataclasses import dataclass
from shutil import rmtree
from goods import ThresholdGoods  # a neighbour
from stratagem.players.base import Scripted

print("loaded")

@dataclass(frozen=True)
class Steady(Scripted):
    \"\"\"Gives, or keeps.\"\"\"
    give: bool = True
    def strategy(self, view):
        assert type(view.game) is ThresholdGoods
        return "GIVE" if self.give else "KEEP"

class Owner(Steady):
    family = "auction"

class Bad(Steady):
    def __init__(self):
        1 / 0

def keeper():
    return Steady(give=False)

def three():
    return 3

def both(one, other):
    return Steady()

LIST = [1]
"""


def user_folder(folder, monkeypatch):
    """Yield a folder with a game and players; nothing has been loaded from it, and the cache is empty."""
    shutil.copy(EXAMPLES / "threshold_goods.py", folder / "goods.py")
    (folder / "bots.py").write_text(BOTS)
    monkeypatch.setenv("STRATAGEM_CACHE", str(folder / "cache"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(file_modules, "MODULES", {})
    monkeypatch.chdir(folder)
    for name in ("goods", "bots", "fine"):  # other tests have files of these names, too
        sys.modules.pop(name, None)
    with commanding():
        yield folder
    for metric in [name for name in METRICS if ".py:" in name]:
        del METRICS[metric]
    for name in ("goods", "bots", "fine"):
        sys.modules.pop(name, None)


def allowed(file):
    allow(file)
    return f"{file}:ThresholdGoods"
