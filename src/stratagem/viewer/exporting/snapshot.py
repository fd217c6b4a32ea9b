"""Snapshot of a record: the answers that the pages ask for, compressed as they are made."""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

from stratagem.errors import BadParameter
from stratagem.games.base import Json
from stratagem.viewer.answers import content_of, episode, run_of, words, written
from stratagem.viewer.library import Library
from stratagem.viewer.listing import Row, find_row, rows_of
from stratagem.viewer.report_pages import report_pages

LARGEST = 25_000_000
"""Largest number of bytes of an exported file."""
_GZIP = 31
"""Window of zlib with the header of gzip, without a time in it."""


class Snapshot:
    """Episodes of a record as base64 of compressed JSON, with the modules of their faces."""

    def __init__(
        self, library: Library, record: str, only: str = "", tell: Callable[[int, int], None] = lambda done, total: None
    ) -> None:
        """`only` is the id of one episode, all of the record without it; `tell` hears how many of them are done."""
        self._tell = tell
        self._library = library
        self._record = record
        self._rows = [find_row(self._folder, only)] if only else rows_of(self._folder)
        self._kept = {row.id for row in self._rows}
        self.modules: dict[str, None] = {}
        """Addresses of the modules of the faces."""

    @property
    def _folder(self) -> Path:
        return self._library.record(self._record)

    @property
    def num_episodes(self) -> int:
        """Number of episodes."""
        return len(self._rows)

    def packed(self) -> str:
        """Return the answers; raise where the file would be too large."""
        pen, packed = zlib.compressobj(9, zlib.DEFLATED, _GZIP), bytearray()
        for text in self._pieces():
            packed += pen.compress(text.encode())
            self._check(packed)
        packed += pen.flush()
        self._check(packed)
        return b64encode(packed).decode()

    def _check(self, packed: bytearray) -> None:
        if len(packed) * 4 // 3 > LARGEST:
            raise BadParameter(
                f"The {self.num_episodes} episodes of this record need a file of more than {LARGEST // 1_000_000} MB: "
                "name one with `episode`."
            )

    def _pieces(self) -> Iterator[str]:
        """Yield the parts of one JSON object."""
        yield f'{{"library":{written(self._content())},"record":{written(self._record)}'
        run = self._library.run_of(self._folder)
        yield f',"run":{written(self._run() if run else None)}'
        yield f',"report":{written(report_pages(run) if run else {})}'
        yield f',"rows":{written([_row(row) for row in self._rows])},"episodes":{{'
        for place, row in enumerate(self._rows):
            yield f"{',' if place else ''}{written(row.id)}:{written(self._episode(row))}"
            self._tell(place + 1, self.num_episodes)
        yield "}}"

    def _content(self) -> Json:
        """Return the content of the folder, as far as it is in the file."""
        content = content_of(self._library, {})
        records = [one for one in content["records"] if one["name"] == self._record]
        games, players = (dict.fromkeys(values) for values in (
            (row.game for row in self._rows), (name for row in self._rows for name in row.players)
        ))  # fmt: skip
        records[0] |= {"episodes": self.num_episodes, "games": list(games), "players": list(players)}
        runs = [one for one in content["runs"] if one["name"] in self._run_names()]
        return {**content, "records": records, "runs": runs, "pages": []}

    def _run_names(self) -> list[str]:
        run = self._library.run_of(self._folder)
        return [name for name, one in self._library.runs.items() if one is run]

    def _run(self) -> Json:
        return _placeless(run_of(self._library, {"name": self._run_names()[0]}))

    def _episode(self, row: Row) -> Json:
        """Return the replay of an episode, and the words behind its decisions by turn, seat and attempt."""
        asked = {"record": self._record, "id": row.id}
        replay = _placeless(episode(self._library, asked))
        if replay["module"]:
            self.modules[replay["module"]] = None
        spoken = [(turn["turn"], one) for turn in replay["turns"] for one in turn["decisions"] if one["calls"]]
        for end in ("previous", "next"):
            replay[end] = replay[end] if replay[end] in self._kept else None
        return {
            "replay": replay,
            "words": {key: words(self._library, asked | place) for key, place in map(_place, spoken)},
        }


def _placeless(content: Json) -> Json:
    """Return content without its folder, which a reader of the file does not have."""
    return {name: value for name, value in content.items() if name != "path"}


def _place(spoken: tuple[int, Json]) -> tuple[str, dict[str, str]]:
    """Return the key of a decision, and the parameters that ask for its words."""
    turn, one = spoken
    place = {"turn": str(turn), "seat": str(one["seat"]), "attempt": str(one["attempt"])}
    return ".".join(place.values()), place


def _row(row: Row) -> Json:
    """Return an episode of the list, with its outcome for each player."""
    return {**row._asdict(), "outcomes": {player: row.outcome(player) for player in ("", *row.players)}}
