"""Endpoints: `serve` puts players of a game behind OpenAI's chat protocol."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stratagem.api.arguments import names_of
from stratagem.api.mistakes import one_sentence
from stratagem.api.player_like import PlayerLike, as_player, players_of
from stratagem.api.serving import serving
from stratagem.base.errors import BadParameter
from stratagem.base.hosts import Host, is_loopback
from stratagem.base.options import whole, within
from stratagem.language.prompting.catalogue import LATER_VERSIONS, STYLES, make_style
from stratagem.players.agents import each_once
from stratagem.players.given import GameLike, as_game

if TYPE_CHECKING:
    from stratagem.show.web.server import Server

HOST, PORT = "127.0.0.1", 8000
_LAST_PORT = 65_535
TIMEOUT = 120.0
"""Seconds until a request without an answer is given up."""
CONCURRENCY = 64
"""Largest number of scripted players that are at work at once."""
KEY_VARIABLE = "STRATAGEM_SERVE_KEY"
"""Environment variable of the key that callers must send."""

__all__ = ["serve"]


@one_sentence
def serve(
    players: PlayerLike | Sequence[PlayerLike],
    game: GameLike,
    *,
    host: str = HOST,
    port: int = PORT,
    styles: str | Sequence[str] = (),
    timeout: float = TIMEOUT,
    concurrency: int = CONCURRENCY,
    engine: str | None = None,
) -> Server:
    """Serve players of a game behind OpenAI's chat protocol, until it is closed.

    The server is a thread of this process, until `close` or the end of `with`; its `url` is the address. The model of a
    player is its name. Callers must send the key of the environment variable STRATAGEM_SERVE_KEY, if there is one.

    Args:
        players: Players, such as `NashApprox` or `run:PATH`.
        game: Game that they play.
        host: Address; beyond this machine it needs a key in STRATAGEM_SERVE_KEY.
        port: Port; 0 takes a free one.
        styles: Prompt styles with options whose prompts are recognised, beside those without.
        timeout: Seconds until a request is given up.
        concurrency: Largest number of scripted players at work at once.
        engine: Engine of local language models, as in `transformers(rows=16)`: stratagem engines.
    """
    key = _check_options(host, port, timeout, concurrency)
    made = as_game(game)
    with serving(engine):
        seats = [(one, as_player(one, made)) for one in players_of(players)]
    each_once(player for _, player in seats)
    known = {name: make_style(name) for name in (*names_of(styles, "prompt style"), *STYLES, *LATER_VERSIONS)}
    from stratagem.connect.endpoint.app import Endpoint, EndpointLimits
    from stratagem.connect.endpoint.desk import Desk
    from stratagem.connect.endpoint.served import ServedPlayer
    from stratagem.connect.endpoint.threads import Threads
    from stratagem.show.web.server import Server

    desk, threads = Desk(), Threads(concurrency)
    try:
        served = {
            given if isinstance(given, str) else player.name: ServedPlayer(player, made, known, desk, threads)
            for given, player in seats
        }
        endpoint = Endpoint(served, EndpointLimits(timeout=timeout), key)
        return Server(endpoint.application(), host, port, path="/v1", closing=desk.close)
    except BaseException:
        desk.close()
        raise


def check_address(function: str, host: object, port: object) -> None:
    """Check the host and the port of a server; port 0 is any free one."""
    whole(function, "port", port, 0)
    if isinstance(port, int) and port > _LAST_PORT:
        raise BadParameter(f"A port is a number up to {_LAST_PORT}, not {port}.")
    if not isinstance(host, str) or not host:
        raise BadParameter(f"A host is a name or a number such as {HOST}, not {host!r}.")


def _check_options(host: str, port: int, timeout: float, concurrency: int) -> str:
    """Check the plain options, and return the key; an open address without a key is refused."""
    check_address("serve", host, port)
    within("serve", "timeout", timeout, 0.001)
    whole("serve", "concurrency", concurrency, 1)
    return key_of_callers(host)


def key_of_callers(host: str) -> str:
    """Return the key that callers must send; an address beyond this machine without a key is refused."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key.isascii() or not key.isprintable():
        raise BadParameter(
            f"The key in {KEY_VARIABLE} has a character that no key has: set it again, as one plain word."
        )
    if not key and not is_loopback(Host(host)):
        raise BadParameter(
            f"At {host} everybody on the network may use the players: set {KEY_VARIABLE} to a key that callers must "
            f"send, or serve at {HOST}."
        )
    return key
