"""`stratagem play`: a match that is printed turn by turn."""

from __future__ import annotations

from stratagem.base.errors import BadParameter
from stratagem.cli.call import CommandCall
from stratagem.cli.output import print_json
from stratagem.cli.transcript import print_episode
from stratagem.players.given import as_game, as_player
from stratagem.players.human import at_keyboard
from stratagem.playing.records import episode_json


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
        print_episode(episode)
    if len(result.episodes) > 1 or not shown:
        call.show(result)
