"""Snapshot of a record: the answers that the pages ask for, compressed as they are made."""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

from stratagem.base.errors import BadParameter
from stratagem.games.base import Json
from stratagem.playing.records import Episode
from stratagem.playing.store import read_episode, read_episodes
from stratagem.show.viewer.answers import content_of, run_of, shaded_words
from stratagem.show.viewer.episode_index import OUTCOMES, EpisodeRow, episodes_of
from stratagem.show.viewer.library import Library
from stratagem.show.viewer.listing import find_episode
from stratagem.show.viewer.replays import load_episode, parents_of, replay_episode
from stratagem.show.viewer.report_pages import report_pages
from stratagem.show.web.bodies import to_json

LARGEST = 25_000_000
"""Largest number of bytes of an exported file."""
_GZIP = 31
"""Window of zlib with the header of gzip, without a time in it."""


class RecordSnapshot:
    """Episodes of a record as base64 of compressed JSON, with the modules of their faces."""

    def __init__(
        self, library: Library, record: str, only: str = "", tell: Callable[[int, int], None] = lambda done, total: None
    ) -> None:
        """`only` is the id of one episode, all of the record without it; `tell` hears how many of them are done."""
        self._tell = tell
        self._library = library
        self._record = record
        index = episodes_of(self._folder)
        self._index = index.take([find_episode(index, only)]) if only else index
        self._rows = self._index.rows()
        self._read: dict[str, Episode] = {}
        self.modules: dict[str, None] = {}
        """Addresses of the modules of the faces."""

    @property
    def _folder(self) -> Path:
        return self._library.record(self._record)

    @property
    def num_episodes(self) -> int:
        """Number of episodes."""
        return len(self._rows)

    def pack_answers(self) -> str:
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
        yield f'{{"library":{to_json(self._content())},"record":{to_json(self._record)}'
        run = self._library.run_of(self._folder)
        yield f',"run":{to_json(self._run() if run else None)}'
        yield f',"report":{to_json(report_pages(run) if run else {})}'
        yield f',"rows":{to_json(self._list_rows())},"episodes":{{'
        for place, (row, played) in enumerate(self._episodes()):
            yield f"{',' if place else ''}{to_json(row.id)}:{to_json(self._replay(place, row, played))}"
            self._tell(place + 1, self.num_episodes)
        yield "}}"

    def _episodes(self) -> Iterator[tuple[EpisodeRow, Episode]]:
        """Yield the episodes in the order of play; each shard is read once."""
        for shard, rows in groupby(self._rows, key=lambda row: row.shard):
            wanted = list(rows)
            if len(wanted) == 1:
                self._read = {wanted[0].id: read_episode(self._folder, shard, wanted[0].id)}
            else:
                self._read = {episode.id: episode for episode in read_episodes(self._folder, [shard])}
            yield from ((row, self._read[row.id]) for row in wanted)

    def _list_rows(self) -> list[Json]:
        """Return the episodes of the list, each with its outcome for each player."""
        outcomes = {player: self._index.outcomes(player) for player in ("", *self._index.players.names)}
        return [
            {**row._asdict(), "outcomes": {one: OUTCOMES[outcomes[one][place]] for one in ("", *row.players)}}
            for place, row in enumerate(self._rows)
        ]

    def _content(self) -> Json:
        """Return the content of the folder, as far as it is in the file."""
        content = content_of(self._library, {})
        records = [one for one in content["records"] if one["name"] == self._record]
        games, players = (dict.fromkeys(values) for values in (
            (row.game for row in self._rows), (name for row in self._rows for name in row.players)
        ))  # fmt: skip
        records[0] |= {"episodes": self.num_episodes, "games": list(games), "players": list(players)}
        runs = [one for one in content["runs"] if one["name"] in self._run_names()]
        return {**content, "records": records, "runs": runs, "pages": [], "audits": []}

    def _run_names(self) -> list[str]:
        run = self._library.run_of(self._folder)
        return [name for name, one in self._library.runs.items() if one is run]

    def _run(self) -> Json:
        return _placeless(run_of(self._library, {"name": self._run_names()[0]}))

    def _replay(self, place: int, row: EpisodeRow, played: Episode) -> Json:
        """Return the replay of an episode, and the words behind its decisions by turn, seat and attempt."""
        replay = replay_episode(played, lambda: parents_of(played, self._load))
        if replay["module"]:
            self.modules[replay["module"]] = None
        ends = {"previous": self._id_at(place - 1), "next": self._id_at(place + 1)}
        run = self._library.run_of(self._folder)
        said = {
            f"{one.turn}.{one.seat}.{one.attempt}": {"calls": shaded_words(self._folder, row.shard, played, one, run)}
            for one in played.decisions
            if one.calls
        }
        return {"replay": {**replay, **ends}, "words": said}

    def _id_at(self, place: int) -> str | None:
        """Return the id of the episode at a place of the file; None before the first and after the last."""
        return self._rows[place].id if 0 <= place < len(self._rows) else None

    def _load(self, name: str) -> Episode:
        """Return an episode from which others were forked, which mostly lies in the same shard."""
        return self._read.get(name) or load_episode(self._folder, name)


def _placeless(content: Json) -> Json:
    """Return content without its folder, which a reader of the file does not have."""
    return {name: value for name, value in content.items() if name != "path"}
