"""Positions of recorded games: who is asked at a turn, what they may do, and who can play on from there."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from stratagem.base.consent.table import note_named
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.games.base import Game, Json, Seat, State, View
from stratagem.games.choices import Choices, Flat, Sheet
from stratagem.language.engines.base import Chat
from stratagem.language.prompting.base import Role, Style
from stratagem.language.prompting.catalogue import make_style, style_versions
from stratagem.players.catalogue import patterns, player_names
from stratagem.playing.forks import replay
from stratagem.playing.records import Decision, Episode
from stratagem.show.reports.run_data import RunData
from stratagem.show.viewer.library import Library
from stratagem.show.viewer.listing import find_row
from stratagem.show.viewer.replays import check_start, load_episode, parents_of
from stratagem.training.runs.folder import RunFolder

_LISTED = 300
"""Largest number of actions, or of options of a slot, that a page lists."""
_ABSENT = "absent"
START = "start"
IN_TRAINING = "policy"
"""Recorded name of the policy of a run with one learner; others have the names of their learners."""
_OWN = "run:.@"


class RecordedTurn(NamedTuple):
    """Turn of a recorded episode."""

    episode: Episode
    parents: dict[str, Episode]
    state: State[Any]
    turn: int

    @property
    def decisions(self) -> dict[Seat, Decision]:
        """The decision of each seat that was asked; of several attempts the last, which was played."""
        return {row.seat: row for row in self.episode.decisions if row.turn == self.turn}

    def view(self, seat: Seat) -> View[Any]:
        """Return the view of a seat that was asked."""
        if seat not in self.state.to_act:
            raise BadParameter(f"Seat {seat} is not asked at turn {self.turn}: {_asked_seat(self.state)}.")
        return self.state.view(seat)

    def action(self, seat: Seat, text: str) -> str:
        """Read an action of a seat; refused in words where it is none."""
        return legal(self.view(seat).choices, text)


def read_position(folder: Path, name: str, turn: int) -> RecordedTurn:
    """Reach a turn of a recorded episode again."""
    episode = load_episode(folder, name)
    turns = sorted({row.turn for row in episode.decisions})
    if turn not in turns:
        known = f"{turns[0]} to {turns[-1]}" if turns else "none"
        raise BadParameter(f"Episode {name} has no turn {turn}: its turns are {known}.")
    note_named(folder, [episode.game, *(maker(name, None) for name in episode.players)], looks_there=False)
    parents = parents_of(episode, partial(load_episode, folder))
    check_start(episode, parents)
    return RecordedTurn(episode, parents, replay(episode, turn, parents), turn)


def legal(choices: Choices, text: str) -> str:
    """Read a typed action, or say in one sentence why it is none."""
    action, problem = choices.parse(text)
    if action is not None:
        return action
    why = {"silent": "There is no action in it", "ambiguous": "It names more than one action"}
    short = text if len(text) <= 60 else f"{text[:60]}…"
    raise BadParameter(f"{why.get(problem, f'{short!r} is no legal action')}: play {choices.summary()}.")


def choices_json(choices: Choices) -> Json:
    """Return what a page draws choices from: buttons, a form with a line for each slot, or a field for a text."""
    if isinstance(choices, Sheet):
        slots = [
            {"name": slot.name, "options": slot.options[:_LISTED], "more": max(0, len(slot.options) - _LISTED)}
            for slot in choices.slots
        ]
        return {"kind": "sheet", "slots": slots, "fill": choices.fill}
    if isinstance(choices, Flat):  # else a text of one's own, beside the lines that are listed
        return {"kind": "flat", "actions": choices.actions[:_LISTED], "count": choices.count}
    listed = list(islice(choices, _LISTED))
    return {"kind": "text", "actions": listed, "heads": list(getattr(choices, "heads", ()))}


def lines_of(choices: Choices, action: str | None) -> list[str] | None:
    """Return the line of each slot of a sheet for an action; None for other choices."""
    if action is None or not isinstance(choices, Sheet):
        return None
    return list(choices.by_slot(action))


def maker(recorded: str, run: Path | None) -> str:
    """Return the text that makes a recorded player again: its name without the version.

    A run names its own models without its path, which is that of the run of the record.
    """
    name = recorded.rpartition("@")[0] or recorded
    return f"run:{run}@{name.removeprefix(_OWN)}" if run and name.startswith(_OWN) else name


def is_absent(recorded: str) -> bool:
    """Return whether nobody had a seat."""
    return recorded == _ABSENT


def position_json(library: Library, folder: Path, name: str, turn: int) -> Json:
    """Return what a page needs to ask about a turn."""
    position = read_position(folder, name, turn)
    decisions, run = position.decisions, library.run_of(folder)
    return {
        "turn": turn,
        "chance": position.state.game.spec.chance,
        "unit": position.state.game.spec.unit,
        "seats": [_seat(position, seat, decisions[seat]) for seat in position.state.to_act if seat in decisions],
        "players": [maker(name, run.path if run else None) for name in position.episode.players],
        "stand_ins": stand_ins_of(position.episode, run, find_row(folder, name).shard) if run else {},
        "known": known_players(library, position.state.game),
        "styles": style_versions(),
    }


def stand_ins_of(episode: Episode, run: RunFolder, step: int) -> dict[Seat, str]:
    """Return for each seat of a policy in training the checkpoint that is nearest to the step of the episode.

    The record of a run has the name of such a policy alone, and its weights have gone on since.
    """
    labels = _labels(run.path)
    if not labels:
        return {}
    start, found = RunData(run).sft_steps, dict[Seat, str]()
    for seat, recorded in enumerate(episode.players):
        name = recorded.rpartition("@")[0]
        own = [label.partition("/") for label in labels]
        steps = {
            f"{label}{stroke}{learner}": start if label == START else int(label)
            for label, stroke, learner in own
            if (learner or IN_TRAINING) == name and (label == START or label.isdecimal())
        }
        if steps:
            found[seat] = f"run:{run.path}@{min(steps, key=lambda label: (abs(steps[label] - step), label == START))}"
    return found


def known_players(library: Library, game: Game[Any]) -> list[str]:
    """Return names of players that a page suggests: those of the game, and the models of the runs in the folder."""
    named = [*player_names(game), *(text for text in patterns(game) if text.islower() and text != "human")]
    return [*named, *(f"run:{run.path}@{label}" for run in library.runs.values() for label in _labels(run.path))]


def _labels(run: Path) -> list[str]:
    from stratagem.language.models.run_models import read_run_models

    try:
        return list(read_run_models(run).models)
    except StratagemError:
        return []


def _seat(position: RecordedTurn, seat: Seat, decision: Decision) -> Json:
    choices = position.view(seat).choices
    return {
        "seat": seat,
        "action": decision.action,
        "lines": lines_of(choices, decision.action),
        "choices": choices_json(choices),
        "style": style_of(position.view(seat), decision),
    }


def style_of(view: View[Any], decision: Decision) -> str:
    """Return the prompt style that a model was asked in; empty where no model was asked, or its style is not known."""
    asked = decision.calls[0].prompt.messages if decision.calls else ()
    for name in style_versions() if asked else ():
        if _asks(name, view, asked):
            return name
    return ""


def _asks(name: str, view: View[Any], asked: Chat) -> bool:
    """Return whether a style writes these messages; the system message may begin with a text of the player."""
    try:
        style: Style = make_style(name)
        written = style.messages(view)
    except StratagemError:
        return False
    same = _contents("user", asked) == _contents("user", written)
    system = zip(_contents("system", asked), _contents("system", written), strict=False)
    return same and all(text.endswith(goal) for text, goal in system)


def _contents(role: Role, messages: Iterable[tuple[str, str]]) -> list[str]:
    return [content for other, content in messages if other == role]


def _asked_seat(state: State[Any]) -> str:
    return f"the seats are {', '.join(map(str, state.to_act))}" if state.to_act else "the game is over"
