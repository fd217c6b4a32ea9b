"""The game and the face that docs/how-to/draw-a-game.md shows, as files."""

import re
from collections import defaultdict
from pathlib import Path

from stratagem.base.consent.table import allow

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "draw-a-game.md").read_text("utf-8")
SECTION = PAGE[PAGE.index("## The module") :]
BLOCKS = defaultdict(list)
"""Blocks of the section by language."""
for language, block in re.findall(r"```(\w+)\n(.*?)```", SECTION, re.DOTALL):
    BLOCKS[language].append(block)


def make_game_with_face(folder):
    """Write the example of a game with the face of the page beside it; return its name."""
    game = (ROOT / "examples" / "threshold_goods.py").read_text("utf-8")
    line = BLOCKS["python"][0].strip()
    path = folder / "threshold_goods.py"
    path.write_text(game.replace("    state = GoodsState\n", f"    state = GoodsState\n    {line}\n"), "utf-8")
    assert line in path.read_text("utf-8")
    (folder / "goods.js").write_text(BLOCKS["js"][0], "utf-8")
    allow(path)
    return f"{path}:ThresholdGoods"
