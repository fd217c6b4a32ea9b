"""Steps of described games by the names that files give them."""

from __future__ import annotations

from stratagem.games.drawn.description import Step
from stratagem.games.drawn.steps.betting import Bet
from stratagem.games.drawn.steps.choosing import Choose
from stratagem.games.drawn.steps.claiming import CountClaim
from stratagem.games.drawn.steps.dealing import Ante, Deal, Show, Swap
from stratagem.games.drawn.steps.offering import Offer
from stratagem.games.drawn.steps.paying import GiftPool, PayoffTable, Split
from stratagem.games.drawn.steps.winning import Sale, Showdown

STEPS: dict[str, type[Step]] = {
    step.do: step
    for step in (Deal, Show, Swap, Ante, Bet, Choose, CountClaim, Offer, Showdown, Sale, Split, GiftPool, PayoffTable)
}
"""Classes of steps by the value of `do`."""
