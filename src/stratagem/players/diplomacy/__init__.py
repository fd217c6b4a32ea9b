"""Scripted players of Diplomacy, by their names after `diplomacy/`."""

from stratagem.players.diplomacy.base import Commander
from stratagem.players.diplomacy.dumbbot import DumbBot, DumbBotGreedy
from stratagem.players.diplomacy.plain import Coordinated, Defensive, Hold, Territorial
from stratagem.players.diplomacy.ported import DumbBotPortedDipNet
from stratagem.players.diplomacy.press import DumbBotPress
from stratagem.players.diplomacy.tuned import DumbBotTuned

COMMANDERS: dict[str, type[Commander]] = {
    made.called: made
    for made in (
        DumbBot,
        DumbBotPortedDipNet,
        DumbBotGreedy,
        DumbBotTuned,
        DumbBotPress,
        Hold,
        Territorial,
        Defensive,
        Coordinated,
    )
}
