"""Play of matches: one scheduler for all games and players, seatings, forks, and records.

The package can be called: `stratagem.play(GAME, PLAYERS)` is the function of `stratagem.api.matches`.
"""

import sys

from stratagem.front import CallablePackage

sys.modules[__name__].__class__ = CallablePackage
