"""Draw the animation of the site's first page: the turns of a recorded game, as `stratagem view` shows them.

    stratagem play "diplomacy(until=1902)" --players dumbbot ... --episodes 1 --record RECORD
    stratagem view RECORD --export replay.html
    python docs/site/animation.py replay.html "diplomacy(until=1902)/0/0.0" 6 docs/images/replay.webp

It needs Chromium and the package pillow, which nothing else does.
"""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from PIL import Image

WINDOW, BOX, WIDTH = (1240, 1000), (24, 118, 1216, 985), 760
SECONDS = 1.8
"""Time of a turn on the screen."""


def frame(page: Path, episode: str, turn: int) -> Image.Image:
    """Take the picture of one turn."""
    address = f"{page.resolve().as_uri()}#/replay?record=.&id={quote(episode, safe='')}&turn={turn}"
    with TemporaryDirectory() as folder:
        target = Path(folder) / "turn.png"
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=3000")
        size = f"--window-size={WINDOW[0]},{WINDOW[1]}"
        subprocess.run(["chromium", *options, size, f"--screenshot={target}", address], check=True, capture_output=True)
        picture = Image.open(BytesIO(target.read_bytes())).convert("RGB").crop(BOX)
    return picture.resize((WIDTH, round(WIDTH * picture.height / picture.width)), Image.Resampling.LANCZOS)


def main(page: str, episode: str, turns: str, target: str) -> None:
    """Write the animation."""
    first, *rest = [frame(Path(page), episode, turn) for turn in range(int(turns))]
    first.save(target, save_all=True, append_images=rest, duration=round(1000 * SECONDS), loop=0, quality=70, method=6)


if __name__ == "__main__":
    main(*sys.argv[1:])
