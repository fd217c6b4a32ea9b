"""Repeated public goods game: rules here, and beside them safety, players and face."""

from stratagem.games.public_goods.rules import (
    ACTIONS,
    CONTRIBUTORS,
    KEEPERS,
    PRICE,
    SPARES,
    VERDICTS,
    Gave,
    PublicGoods,
    PublicGoodsFacts,
    PublicGoodsState,
    Punished,
)

__all__ = [
    "ACTIONS",
    "CONTRIBUTORS",
    "KEEPERS",
    "PRICE",
    "SPARES",
    "VERDICTS",
    "Gave",
    "PublicGoods",
    "PublicGoodsFacts",
    "PublicGoodsState",
    "Punished",
]
