"""`stratagem play`: a match that is printed turn by turn."""

from __future__ import annotations

from collections.abc import Callable

from stratagem.api.progress import show_progress
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.cli.call import CommandCall
from stratagem.cli.console import out
from stratagem.cli.output import print_json
from stratagem.cli.transcript import print_episode
from stratagem.players.given import as_game, as_player
from stratagem.players.human import at_keyboard
from stratagem.playing.records import Decision, Episode, episode_json
from stratagem.show.cells import number
from stratagem.show.console import VisibleText

_NO_REGRET = 5e-4
"""Regret that counts as none: an equilibrium is computed to this accuracy."""

_MEANING = "Regret: what the best move would have gained where the others play an equilibrium."


def show_match(call: CommandCall) -> None:
    """Play a match and print its first episodes turn by turn, then the totals where they say more."""
    players = call.given.get("players") or ["human"]
    if call.json and any("human" in name for name in players):
        game = as_game(call.given["game"])
        if any(at_keyboard(as_player(name, game)) for name in players if "human" in name):
            raise BadParameter("--json prints for programs and a human needs the screen: leave one of them out.")
    shown = call.given.get("keep", 1)
    result = call.carry_out(keep=None if call.json else shown)
    if call.json:
        print_json([episode_json(episode) for episode in result.episodes])
        return
    for episode in result.episodes[:shown]:
        print_episode(episode, _regret_printer(episode))
    if len(result.episodes) > 1 or not shown:
        call.show(result)


def _regret_printer(episode: Episode) -> Callable[[Decision], None] | None:
    """Return what prints the regret of each move of a game that a person has played; None for other games."""
    if not any(name.startswith("human@") for name in episode.players):
        return None
    from stratagem.show.viewer.decision_regrets import regret_of

    try:
        with show_progress(1) as step:
            step("computes the regret of each move")
            regret = regret_of(episode.game)
    except StratagemError as error:
        out.print(VisibleText(f"No regrets: {error}", style="dim"))
        return None
    out.print(VisibleText(_MEANING, style="dim"))

    def tell(row: Decision) -> None:
        if (lost := regret(row)) is not None:
            out.print(VisibleText(f"      regret {'0' if lost < _NO_REGRET else number(lost)}", style="dim"))

    return tell
