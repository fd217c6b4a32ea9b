"""Actions of the pages: start and cancel jobs, sit down at a table, add a demonstration."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.base.named_files import content_of
from stratagem.games.base import Json, Seat
from stratagem.games.bounded import make_bounded_game
from stratagem.games.catalogue import describe, game_names
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.demonstrations.taught import append, correct_decision
from stratagem.playing.records import Episode, episode_json
from stratagem.show.viewer.alternatives import Alternatives, ask_alternatives
from stratagem.show.viewer.asked import (
    AskedAlternatives,
    AskedExport,
    AskedPolicy,
    AskedTurn,
    AskedWhatIf,
    OneJob,
    Sit,
    TaughtTurn,
)
from stratagem.show.viewer.exporting.jobs import Export, ask_export
from stratagem.show.viewer.jobs import ViewerJob
from stratagem.show.viewer.library import Library
from stratagem.show.viewer.listing import find_row
from stratagem.show.viewer.model_policies import ask_policy, digest_of, fixed_name, question_of
from stratagem.show.viewer.parameters import number, require_parameter
from stratagem.show.viewer.positions import RecordedTurn, known_players, maker, position_json, read_position
from stratagem.show.viewer.sitting import Origin, SeatedGame
from stratagem.show.viewer.studio import Visit
from stratagem.show.viewer.subjects import suggest_player
from stratagem.show.viewer.tables import FORKS
from stratagem.show.viewer.whatif import UNCHANGED, WhatIf, ask_what_if, stored_answer

TAUGHT = "taught.jsonl"
"""File of demonstrations by hand, in the folder that is shown."""


def start_what_if(visit: Visit, body: Json) -> Json:
    """Start the branches of a question, or answer it from the record of its answer."""
    question = check_question(visit, AskedWhatIf.read(body))
    if (known := stored_answer(question.to)) is not None:
        return ViewerJob("whatif", ask_what_if, None, state="done", result=known).to_json()
    return visit.studio.jobs.start("whatif", ask_what_if, question).to_json()


def check_question(visit: Visit, asked: AskedWhatIf) -> WhatIf:
    """Check a question as far as no player need be made, and name the record of its answer by its content."""
    folder, position, path = _turn_of(visit.library, asked)
    _check_seats(position, asked.players)
    recorded = [maker(name, path) for name in position.episode.players]
    given = {seat: position.action(seat, text) for seat, text in asked.actions.items()}
    played = {seat: row.action for seat, row in position.decisions.items()}
    actions = {seat: action for seat, action in given.items() if action != played.get(seat)}
    names = {seat: fixed_name(name) for seat, name in asked.players.items()}
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
        to=visit.studio.root,
        name="",
        accepted=asked.accepted,
        prices=visit.studio.prices,
    )
    name = f"{FORKS}/{_digest(position.episode, question.as_json())}"
    return replace(question, to=visit.studio.root / name, name=name)


def start_alternatives(visit: Visit, body: Json) -> Json:
    """Start to compute the probabilities of a player at a decision."""
    asked = AskedAlternatives.read(body)
    folder, position, path = _turn_of(visit.library, asked)
    position.view(asked.seat)
    recorded = maker(position.episode.players[asked.seat], path)
    player = fixed_name(asked.player) or recorded
    question = Alternatives(
        folder=folder,
        episode=asked.episode,
        turn=asked.turn,
        seat=asked.seat,
        player=player,
        accepted=asked.accepted,
        prices=visit.studio.prices,
    )
    content = _digest(position.episode, {"turn": asked.turn, "seat": asked.seat, "player": player})
    return visit.studio.jobs.start("alternatives", ask_alternatives, question, content).to_json()


def start_policy(visit: Visit, body: Json) -> Json:
    """Start to compute the policy of a player on the whole tree of a game."""
    asked = AskedPolicy.read(body)
    make_bounded_game(asked.game)
    question = question_of(asked.game, asked.player, asked.accepted)
    return visit.studio.jobs.start("policy", ask_policy, question).to_json()


def start_export(visit: Visit, body: Json) -> Json:
    """Start to write a record, or one episode of it, as one file."""
    asked = AskedExport.read(body)
    folder = visit.library.record(asked.record)
    if asked.episode:
        find_row(folder, asked.episode)
    question = Export(root=visit.studio.root, record=asked.record, episode=asked.episode)
    return visit.studio.jobs.start("export", ask_export, question).to_json()


def follow_job(visit: Visit, asked: Mapping[str, str]) -> Json:
    """Return the state of a job."""
    return visit.studio.jobs.find(asked.get("id", "")).to_json()


def cancel_job(visit: Visit, body: Json) -> Json:
    """Cancel a job."""
    return visit.studio.jobs.cancel(OneJob.read(body).id).to_json()


def list_what_ifs(library: Library, asked: Mapping[str, str]) -> Json:
    """Return the answered questions about an episode."""
    wanted = asked.get("record", ""), asked.get("id", "")
    known = (stored_answer(path) for name, path in library.records.items() if name.startswith(f"{FORKS}/"))
    about = [one for one in known if one and _parent(one) == wanted]
    return {"whatifs": sorted(about, key=lambda one: one["question"]["turn"])}


def teach_action(visit: Visit, body: Json) -> Json:
    """Add a decision with the action that should have been played to the demonstrations by hand."""
    asked = TaughtTurn.read(body)
    _, position, _ = _turn_of(visit.library, asked)
    action = position.action(asked.seat, asked.action)
    style = make_style(asked.style)
    example = correct_decision(position.view(asked.seat), action, asked.thought.strip(), style, asked.episode)
    with visit.studio.teaching:
        lines = append(visit.studio.root / TAUGHT, example)
    return {"file": str(visit.studio.root / TAUGHT), "examples": lines, "reply": example.reply}


def open_table(visit: Visit, body: Json) -> Json:
    """Seat the operator at a game, and return the id of the table."""
    asked = Sit.read(body)
    origin = _origin(visit.library, asked) if asked.record else None
    game = "" if origin else describe(make_bounded_game(asked.game))
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
    seated = SeatedGame(
        id=f"{stamp}-{secrets.token_hex(3)}",
        game=game,
        seat=asked.seat,
        players={seat: text.strip() for seat, text in asked.players.items()},
        key=secrets.randbits(64),
        origin=origin,
        accepted=asked.accepted,
        prices=visit.studio.prices,
    )
    return {"id": visit.studio.tables.open(seated).id}


def _origin(library: Library, asked: Sit) -> Origin:
    folder, position, path = _turn_of(library, asked)
    _check_seats(position, {asked.seat: "", **asked.players})
    return Origin(folder, asked.episode, asked.turn, path)


def _turn_of(library: Library, asked: AskedTurn | Sit) -> tuple[Path, RecordedTurn, Path | None]:
    """Return the folder of the record, the position at the turn, and the folder of the run that made the record."""
    folder = library.record(asked.record)
    run = library.run_of(folder)
    return folder, read_position(folder, asked.episode, asked.turn), run.path if run else None


def position_of(library: Library, asked: Mapping[str, str]) -> Json:
    """Return a turn with what may be changed there."""
    folder = library.record(require_parameter(asked, "record"))
    return position_json(library, folder, require_parameter(asked, "id"), number(asked, "turn", 0))


def game_of(library: Library, asked: Mapping[str, str]) -> Json:
    """Return what a page needs to seat players at a game; without a name, the games that there are."""
    if not asked.get("name"):
        return {"games": game_names()}
    game = make_bounded_game(asked["name"])
    return {
        "game": describe(game),
        "seats": list(game.spec.seat_names) or [f"seat {seat}" for seat in range(game.spec.seats)],
        "summary": game.spec.summary,
        "players": known_players(library, game),
        "opponent": suggest_player(library, game),
    }


def _check_seats(position: RecordedTurn, seats: Mapping[Seat, Any]) -> None:
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
    return digest_of(episode_json(episode), question, files)
