"""DumbBot, by the rules of David Norman's original (2003): values spread over the map, a random pick among the best.

It never convoys. Ports differ so much from it and from each other that their win rates do not compare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from stratagem.games.choices import Sheet
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.diplomacy.board import WAIVE
from stratagem.games.diplomacy.facts import DiplomacyFacts
from stratagem.games.diplomacy.graph import Node, province
from stratagem.games.diplomacy.state import DiplomacyState
from stratagem.players.base import Ask, Move, Player
from stratagem.players.diplomacy.appraisal import Appraisal
from stratagem.players.diplomacy.base import Commander, Dice
from stratagem.players.diplomacy.campaign import Campaign, rank_nodes
from stratagem.players.rollouts import DecisionRollouts, Returns

_ALTERNATIVE, _STEEPNESS = 50, 500
"""Percentages: probability of the next best candidate, and its decline with the gap in value."""


def pick_node(candidates: Sequence[Node], values: Mapping[Node, float], dice: Dice) -> Node:
    """Go from the best to the next with probability 0.5 max(0, 1 - 5 relative gap), until a candidate is picked."""
    return stray_pick(candidates, values, dice, _ALTERNATIVE)


def stray_pick(candidates: Sequence[Node], values: Mapping[Node, float], dice: Dice, alternative: int) -> Node:
    """Pick in the same way with another percentage than 50."""
    index = 0
    while index + 1 < len(candidates):
        here, after = values[candidates[index]], values[candidates[index + 1]]
        if dice.below(100) >= alternative:
            break
        if dice.below(100) * here < _STEEPNESS * (here - after):
            break
        index += 1
    return candidates[index]


def best(candidates: Sequence[Node], values: Mapping[Node, float], dice: Dice) -> Node:
    """Return the best candidate, always."""
    return candidates[0]


def _kernel_arguments(player: Player) -> tuple[type[Appraisal], int] | None:
    """Return what kernels need to write the sheets of a player; None where it has other rules."""
    if not isinstance(player, DumbBot) or type(player).turn is not DumbBot.turn or player.strays is None:
        return None
    return player.appraisal, player.strays


@dataclass(frozen=True)
class DumbBot(Commander):
    """Moves to the greatest sum of nearby values, supports what it would run into, and strays at random.

    Reference: DumbBot (Norman 2003), after published descriptions of its rules.
    """

    called = "dumbbot"
    pick = staticmethod(pick_node)
    appraisal: ClassVar[type[Appraisal]] = Appraisal
    campaign: ClassVar[type[Campaign]] = Campaign
    strays: ClassVar[int | None] = _ALTERNATIVE
    """Percentage of the next best candidate in kernels of the fast board; None for rules that these do not know."""

    def turn(self, ask: Ask) -> Move:
        """Write the sheet; on the fast board the same one by compiled code."""
        cells = getattr(ask.view.facts.board, "cells", None)
        if cells is None or self.strays is None:
            return super().turn(ask)
        from stratagem.players.diplomacy.fast.sheets import write_sheet  # loads numba

        facts = ask.view.facts
        return Move(write_sheet(facts.board, facts.power, ask.key, self.appraisal, self.strays))

    def plays_on(self, batch: DecisionRollouts) -> Returns | None:
        """Play rollouts of DumbBots in one call of compiled code; None without the fast board, or where others play."""
        state = batch.worlds[0].state
        if not isinstance(state, DiplomacyState) or not hasattr(state.board, "cells"):
            return None
        bots = [[rules for player in seats if (rules := _kernel_arguments(player))] for seats in batch.players]
        if any(len(known) < len(seats) for known, seats in zip(bots, batch.players, strict=True)):
            return None
        from stratagem.players.diplomacy.fast.rollouts import CompiledRollouts  # loads numba

        return CompiledRollouts(batch, bots)

    def lines(self, facts: DiplomacyFacts, game: Diplomacy, dice: Dice) -> Iterable[str]:
        eyes = self.appraisal(game.map, game.centers, facts.board, facts.power)
        values, sheet = eyes.values(), facts.board.sheet(facts.power)
        assert sheet is not None
        match facts.board.kind:
            case "M":
                return self.campaign(eyes, values, sheet, dice, self.pick).orders()
            case "R":
                return self._retreats(eyes, values, dice)
        if facts.board.due(facts.power) < 0:
            return self._removals(eyes, values, sheet.fill, dice)
        return self._builds(sheet, values, dice)

    def _retreats(self, eyes: Appraisal, values: Mapping[Node, float], dice: Dice) -> Iterable[str]:
        """Retreat, never two to one province; a unit without a place disbands."""
        taken: set[str] = set()
        for unit, places in eyes.board.units_to_retreat(eyes.power).items():
            free = rank_nodes((f"{unit[0]} {place}" for place in places if place[:3] not in taken), values)
            if not free:
                yield f"{unit} D"
                continue
            chosen = self.pick(free, values, dice)
            taken.add(province(chosen))
            yield f"{unit} R {chosen[2:]}"

    def _removals(self, eyes: Appraisal, values: Mapping[Node, float], count: int, dice: Dice) -> Iterable[str]:
        """Remove from the worst unit up, each passed over with probability one half."""
        left = rank_nodes(eyes.board.units(eyes.power), values)[::-1]
        for _ in range(count):
            index = 0
            while index + 1 < len(left) and self.strays and dice.below(100) < self.strays:
                index += 1
            yield f"{left.pop(index)} D"

    def _builds(self, sheet: Sheet, values: Mapping[Node, float], dice: Dice) -> Iterable[str]:
        """Build one unit a province, where it has the greatest value; builds that are impossible are waived."""
        open_nodes = {o[:-2] for slot in sheet.slots for o in slot.options if o != WAIVE}
        for _ in range(sheet.fill):
            candidates = rank_nodes(open_nodes, values)
            if not candidates:
                yield WAIVE
                continue
            chosen = self.pick(candidates, values, dice)
            open_nodes = {node for node in open_nodes if province(node) != province(chosen)}
            yield f"{chosen} B"


class DumbBotGreedy(DumbBot):
    """DumbBot without its dice: always the best, in a random order of units. Not the original; a stiffer relative."""

    called = "dumbbot-greedy"
    pick = staticmethod(best)
    strays = 0
