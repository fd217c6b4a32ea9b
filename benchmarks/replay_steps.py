"""Time of script for one step of a replay of Diplomacy in Chromium.

A game of 60 phases or more is stepped through by the right arrow, from start to end. The figure of a walk is the
median over its steps of the time of script, layout and style that Chromium counts. Run with `make bench-view`.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from stratagem.api.views import open_viewer
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.records import Episode
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import write_shard

_PHASES = 60
_COUNTED = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")


def long_game() -> Episode:
    """Play Diplomacy by random orders until there are 60 phases."""
    game = make_game("diplomacy(until=1922)")
    match = Match(game, [make_player("random", game)] * game.spec.seats)
    (episode,) = play([next(iter(rotate_seats(match, 1, Key(0), name="long")))])
    turns = len({row.turn for row in episode.decisions})
    if turns < _PHASES:
        raise SystemExit(f"The game has {turns} phases, fewer than {_PHASES}.")
    return episode


def steps(page: Page, meter: CDPSession, turns: int) -> Iterator[tuple[float, float]]:
    """Yield the milliseconds of script, and those with layout and style, for each step."""
    before = counted(meter)
    for turn in range(1, turns + 1):
        page.keyboard.press("ArrowRight")
        page.get_by_role("heading", name=f"Turn {turn} of {turns}", exact=True).wait_for()
        page.wait_for_timeout(60)
        after = counted(meter)
        script, *rest = (1000 * (now - then) for now, then in zip(after, before, strict=True))
        yield script, script + sum(rest)
        before = after


def counted(meter: CDPSession) -> list[float]:
    """Return the seconds that Chromium has spent so far, by kind."""
    told = {row["name"]: row["value"] for row in meter.send("Performance.getMetrics")["metrics"]}
    return [told[name] for name in _COUNTED]


def run(browser: Browser, address: str, turns: int) -> tuple[float, float]:
    """Return the medians of one walk through the game."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    meter = context.new_cdp_session(page)
    meter.send("Performance.enable")
    page.goto(address)
    page.locator(".board > *").first.wait_for()
    found = list(steps(page, meter, turns))
    context.close()
    return median(script for script, _ in found), median(whole for _, whole in found)


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as started:
        episode = long_game()
        turns = len({row.turn for row in episode.decisions})
        write_shard(Path(temporary), 0, [episode])
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with open_viewer(Path(temporary), port=0, needs_token=False).server as server:
            address = f"{server.url}/#/replay?record=.&id={episode.id}"
            runs = [run(browser, address, turns) for _ in range(asked.repeats)]
            print(f"{turns} phases, {asked.repeats} walks; time of a step, median of medians:")
            for name, values in zip(("script", "script, layout and style"), zip(*runs, strict=True), strict=True):
                print(f"{median(values):7.1f} ms  ({min(values):.1f} to {max(values):.1f})  {name}")
        browser.close()


if __name__ == "__main__":
    main()
