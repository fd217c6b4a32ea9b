"""Actions of the pages: start and cancel jobs, sit down at a table, add a demonstration."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from stratagem import __version__
from stratagem.demonstrations.taught import append, taught
from stratagem.engines.remote.tally import PriceList
from stratagem.errors import BadParameter
from stratagem.games.base import Json, Seat
from stratagem.games.bounded import make_bounded_game
from stratagem.games.catalogue import describe, game_names
from stratagem.models.run_models import pinned
from stratagem.named_files import content_of
from stratagem.play.records import Episode, episode_json
from stratagem.prompting.catalogue import make_style
from stratagem.viewer.alternatives import Alternatives, ask_alternatives
from stratagem.viewer.asked import AskedAlternatives, AskedExport, AskedPolicy, AskedWhatIf, OneJob, Sit, Taught
from stratagem.viewer.exporting.jobs import Export, ask_export
from stratagem.viewer.jobs import LIMITS, Job, JobQueue
from stratagem.viewer.library import Library
from stratagem.viewer.links import Links
from stratagem.viewer.listing import find_row
from stratagem.viewer.model_policies import ask_policy, question_of
from stratagem.viewer.parameters import given, number
from stratagem.viewer.positions import Position, known_players, maker, position_json, read_position
from stratagem.viewer.seats import SeatRequests
from stratagem.viewer.sitting import Origin, Seated
from stratagem.viewer.tables import FORKS, Tables
from stratagem.viewer.whatif import UNCHANGED, WhatIf, ask_what_if, stored
from stratagem.workers.limited import Limits

TAUGHT = "taught.jsonl"
"""File of demonstrations by hand, in the folder that is shown."""


class Actions:
    """Jobs, tables and demonstrations of one folder."""

    def __init__(self, root: Path, prices: PriceList, limits: Limits = LIMITS) -> None:
        self._root = root
        self._jobs = JobQueue(limits)
        self.links = Links()
        self._tables = Tables(root, self.links)
        self.seats = SeatRequests(self._tables)
        self._teaching = threading.Lock()
        self._prices = prices

    def posts(self) -> dict[str, Callable[[Library, Json], Json]]:
        """Return what is done on request, by name."""
        return {
            "whatif": self._what_if,
            "alternatives": self._alternatives,
            "policy": self._policy,
            "export": self._export,
            "cancel": self._cancel,
            "teach": self._teach,
            "sit": self._sit,
        }

    def gets(self) -> dict[str, Callable[[Library, Mapping[str, str]], Json]]:
        """Return what is only read, by name."""
        return {"position": _position, "job": self._job, "game": _game, "whatifs": self._stored}

    def close(self) -> None:
        """End all jobs and games."""
        self._jobs.close()
        self._tables.close()

    def _what_if(self, library: Library, body: Json) -> Json:
        question = self._question(library, AskedWhatIf.read(body))
        if (known := stored(question.to)) is not None:
            return Job("whatif", ask_what_if, None, state="done", result=known).to_json()
        return self._jobs.start("whatif", ask_what_if, question).to_json()

    def _question(self, library: Library, asked: AskedWhatIf) -> WhatIf:
        """Check a question as far as no player need be made, and name the record of its answer by its content."""
        folder = library.record(asked.record)
        position = read_position(folder, asked.episode, asked.turn)
        _check_seats(position, asked.players)
        run = library.run_of(folder)
        path = run.path if run else None
        recorded = [maker(name, path) for name in position.episode.players]
        given = {seat: position.action(seat, text) for seat, text in asked.actions.items()}
        played = {seat: row.action for seat, row in position.decisions.items()}
        actions = {seat: action for seat, action in given.items() if action != played.get(seat)}
        names = {seat: _fixed(name) for seat, name in asked.players.items()}
        players = {seat: name for seat, name in names.items() if name not in ("", recorded[seat])}
        if not (actions or players or asked.dice == "fresh"):
            raise BadParameter(UNCHANGED)
        question = WhatIf(
            folder=folder,
            record=asked.record,
            episode=asked.episode,
            turn=asked.turn,
            actions=actions,
            players=players,
            fresh=asked.dice == "fresh",
            seed=asked.seed,
            count=asked.count,
            run=path,
            to=self._root,
            name="",
            accepted=asked.accepted,
            prices=self._prices,
        )
        name = f"{FORKS}/{_digest(position.episode, question.told())}"
        return replace(question, to=self._root / name, name=name)

    def _alternatives(self, library: Library, body: Json) -> Json:
        asked = AskedAlternatives.read(body)
        folder = library.record(asked.record)
        position = read_position(folder, asked.episode, asked.turn)
        position.view(asked.seat)
        run = library.run_of(folder)
        recorded = maker(position.episode.players[asked.seat], run.path if run else None)
        player = _fixed(asked.player) or recorded
        question = Alternatives(
            folder=folder,
            episode=asked.episode,
            turn=asked.turn,
            seat=asked.seat,
            player=player,
            accepted=asked.accepted,
            prices=self._prices,
        )
        content = _digest(position.episode, {"turn": asked.turn, "seat": asked.seat, "player": player})
        return self._jobs.start("alternatives", ask_alternatives, question, content).to_json()

    def _policy(self, library: Library, body: Json) -> Json:
        asked = AskedPolicy.read(body)
        make_bounded_game(asked.game)
        question = question_of(asked.game, asked.player, asked.accepted)
        return self._jobs.start("policy", ask_policy, question).to_json()

    def _export(self, library: Library, body: Json) -> Json:
        asked = AskedExport.read(body)
        folder = library.record(asked.record)
        if asked.episode:
            find_row(folder, asked.episode)
        question = Export(root=self._root, record=asked.record, episode=asked.episode)
        return self._jobs.start("export", ask_export, question).to_json()

    def _job(self, library: Library, asked: Mapping[str, str]) -> Json:
        return self._jobs.find(asked.get("id", "")).to_json()

    def _cancel(self, library: Library, body: Json) -> Json:
        return self._jobs.cancel(OneJob.read(body).id).to_json()

    def _stored(self, library: Library, asked: Mapping[str, str]) -> Json:
        """Return the answered questions about an episode."""
        wanted = asked.get("record", ""), asked.get("id", "")
        known = (stored(path) for name, path in library.records.items() if name.startswith(f"{FORKS}/"))
        about = [one for one in known if one and _parent(one) == wanted]
        return {"whatifs": sorted(about, key=lambda one: one["question"]["turn"])}

    def _teach(self, library: Library, body: Json) -> Json:
        asked = Taught.read(body)
        position = read_position(library.record(asked.record), asked.episode, asked.turn)
        action = position.action(asked.seat, asked.action)
        style = make_style(asked.style)
        example = taught(position.view(asked.seat), action, asked.thought.strip(), style, asked.episode)
        with self._teaching:
            lines = append(self._root / TAUGHT, example)
        return {"file": str(self._root / TAUGHT), "examples": lines, "reply": example.reply}

    def _sit(self, library: Library, body: Json) -> Json:
        asked = Sit.read(body)
        origin = self._origin(library, asked) if asked.record else None
        game = "" if origin else describe(make_bounded_game(asked.game))
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
        seated = Seated(
            id=f"{stamp}-{secrets.token_hex(3)}",
            game=game,
            seat=asked.seat,
            players={seat: text.strip() for seat, text in asked.players.items()},
            key=secrets.randbits(64),
            origin=origin,
            accepted=asked.accepted,
            prices=self._prices,
        )
        return {"id": self._tables.open(seated).id}

    def _origin(self, library: Library, asked: Sit) -> Origin:
        folder = library.record(asked.record)
        position = read_position(folder, asked.episode, asked.turn)
        _check_seats(position, {asked.seat: "", **asked.players})
        run = library.run_of(folder)
        return Origin(folder, asked.episode, asked.turn, run.path if run else None)


def _position(library: Library, asked: Mapping[str, str]) -> Json:
    folder = library.record(given(asked, "record"))
    return position_json(library, folder, given(asked, "id"), number(asked, "turn", 0))


def _game(library: Library, asked: Mapping[str, str]) -> Json:
    """Return what a page needs to seat players at a game; without a name, the games that there are."""
    if not asked.get("name"):
        return {"games": game_names()}
    game = make_bounded_game(asked["name"])
    return {
        "game": describe(game),
        "seats": list(game.spec.seat_names) or [f"seat {seat}" for seat in range(game.spec.seats)],
        "summary": game.spec.summary,
        "players": known_players(library, game),
    }


def _fixed(name: str) -> str:
    """Name the model of a run by its step, which stays the same when the run goes on."""
    name = name.strip()
    return pinned(name) if name.startswith("run:") else name


def _check_seats(position: Position, seats: Mapping[Seat, Any]) -> None:
    most = len(position.episode.players) - 1
    for seat in seats:
        if not 0 <= seat <= most:
            raise BadParameter(f"{position.state.game.spec.name} has seats 0 to {most}, and none {seat}.")


def _parent(result: Json) -> tuple[str, str]:
    question = result.get("question", {})
    return question.get("record", ""), question.get("episode", "")


def _digest(episode: Episode, question: Json) -> str:
    """Return a name for the answer to a question about an episode, by all that it depends on."""
    players = [name.rpartition("@")[0] or name for name in episode.players]
    asked = [question.get("player", ""), *question.get("players", {}).values()]
    files = content_of([episode.game, *players, *asked])
    content = json.dumps([__version__, episode_json(episode), question, files], sort_keys=True, default=str)
    return blake2b(content.encode(errors="surrogatepass"), digest_size=10).hexdigest()
