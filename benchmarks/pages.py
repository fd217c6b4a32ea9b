"""Times of pages in Chromium: reports of runs, first paint of `stratagem view`, and the lag of a live curve.

Each figure is the median of fresh windows, with the least and the greatest. Run with `make bench-view`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.append(str(Path(__file__).parents[1] / "tests" / "viewer"))

from shown_folder import add_step, episodes_of, write_run

from stratagem.api.views import open_viewer
from stratagem.playing.store import write_shard
from stratagem.show.reports.report import write_report
from stratagem.training.runs.folder import RunFolder

_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
_LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
_STEPS, _EPISODES, _SHARD = 200, 10_000, 500
PAGES = {
    "overview": ("", ".runs tbody tr"),
    "run with 10,000 episodes": ("#/run?name=run", ".plot"),
    "list of its games": ("#/games?record=run%2Frecord", ".episodes tbody tr"),
}
"""Address of a page, and what shows its content."""


def big_run(folder: Path) -> RunFolder:
    """Make a run with 200 steps of 40 metrics and a record of 10,000 episodes."""
    write_run(folder, steps=0)
    names = [f"kuhn/validation/figure_{number}" for number in range(38)] + ["kuhn/exact/exploitability", "loss"]
    lines = [{"step": step, **dict.fromkeys(names, 1 / (1 + step))} for step in range(_STEPS)]
    (folder / "metrics.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    episodes = episodes_of("kuhn(hands=1)", ["NashApprox", "random"], _SHARD)
    for shard in range(_EPISODES // _SHARD):
        for number, episode in enumerate(episodes):
            episode.id = f"{shard}/{number}"
        write_shard(folder / "record", shard, episodes)
    return RunFolder(folder)


@contextmanager
def window(browser: Browser) -> Iterator[Page]:
    """Open a fresh window, without a cache."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    yield context.new_page()
    context.close()


def timed(times: int, one: Callable[[], float]) -> str:
    """Return the median of a time with the least and the greatest, in milliseconds."""
    found = sorted(one() for _ in range(times))
    return f"{median(found):7.0f} ms  ({found[0]:.0f} to {found[-1]:.0f})"


def paint(browser: Browser, address: str, ready: str, time: str = "window.shown") -> float:
    """Return the milliseconds from the request until `ready` finds the content, or to another time of the page."""
    with window(browser) as page:
        page.add_init_script(
            f"addEventListener('DOMContentLoaded', () => {{ const look = () => document.querySelector({ready!r})"
            " ? (window.shown = performance.now()) : requestAnimationFrame(look); look(); })"
        )
        page.goto(address)
        page.locator(ready).first.wait_for()
        page.wait_for_timeout(100)
        return number(page, time)


def loaded(browser: Browser, path: Path) -> float:
    """Return the milliseconds until a report is there with all its pictures."""
    with window(browser) as page:
        page.goto(path.as_uri(), wait_until="load")
        page.wait_for_function("document.documentElement.dataset.drawn")
        return max(number(page, _LOADED), number(page, _PAINT))


def lag(browser: Browser, address: str, run: RunFolder, steps: Iterator[int]) -> float:
    """Return the milliseconds from a new line of metrics to its value on the page."""
    with window(browser) as page:
        page.goto(f"{address}#/run?name=run")
        page.locator(".plot").first.wait_for()
        page.wait_for_timeout(400)
        step, start = next(steps), perf_counter()
        add_step(run.path, step)
        page.get_by_text(f"at step {step}").first.wait_for(timeout=10_000)
        return (perf_counter() - start) * 1000


def number(page: Page, script: str) -> float:
    """Return a number from the page; 0 where it has none."""
    value: Any = page.evaluate(script)
    return float(value or 0)


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--report", type=Path, action="append", default=[], help="another report to load")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as started:
        root = Path(temporary)
        run = big_run(root / "run")
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for report in (write_report(run), *asked.report):
            time = timed(asked.repeats, partial(loaded, browser, report))
            print(f"{time}  report of {report.stat().st_size:,} bytes with its pictures")
        with open_viewer(root, port=0, needs_token=False).server as server:
            paint(browser, f"{server.url}/", "h1")  # the first look reads the record
            for name, (path, ready) in PAGES.items():
                for what, script in {"first paint": _PAINT, "content": "window.shown"}.items():
                    one = partial(paint, browser, f"{server.url}/{path}", ready, script)
                    print(f"{timed(asked.repeats, one)}  {what}: {name}")
            steps = iter(range(_STEPS, _STEPS + asked.repeats))
            print(f"{timed(asked.repeats, lambda: lag(browser, f'{server.url}/', run, steps))}  lag of a live curve")
        browser.close()


if __name__ == "__main__":
    main()
