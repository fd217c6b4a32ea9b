"""Games that come with Stratagem, each with the places of its parts."""

from __future__ import annotations

from stratagem.games.package import GamePackage

_SPIEL_FACES = "stratagem.show.viewer.faces.spiel"

PACKAGES: tuple[GamePackage, ...] = (
    GamePackage(
        "matrix",
        rules="stratagem.games.matrix.repeated:REPEATED",
        safety={
            "ipd": "stratagem.games.matrix.safety:IPDSafety",
            "matrix": "stratagem.games.matrix.safety:MatrixSafety",
        },
        players={"ipd": "stratagem.games.matrix.players:PLAYERS"},
        reasons={"ipd": "stratagem.games.matrix.demonstrations:REASONERS"},
        face={
            "ipd": "stratagem.games.matrix.face:MatrixFace",
            "matrix": "stratagem.games.matrix.face:MatrixFace",
        },
    ),
    GamePackage(
        "auction",
        rules="stratagem.games.auction.rules:Auction",
        safety="stratagem.games.auction.safety:AuctionSafety",
        players="stratagem.games.auction.players:PLAYERS",
        reasons="stratagem.games.auction.demonstrations:REASONERS",
        face="stratagem.games.auction.face:AuctionFace",
    ),
    GamePackage(
        "public-goods",
        rules="stratagem.games.public_goods.rules:PublicGoods",
        players="stratagem.games.public_goods.players:PLAYERS",
        face="stratagem.games.public_goods.face:PublicGoodsFace",
    ),
    GamePackage(
        "negotiation-v1",
        rules="stratagem.games.negotiation_v1.rules:Pie",
        safety="stratagem.games.negotiation_v1.safety:PieSafety",
        players="stratagem.games.negotiation_v1.players:PLAYERS",
        reasons="stratagem.games.negotiation_v1.demonstrations:REASONERS",
        face="stratagem.games.negotiation_v1.face:PieFace",
    ),
    GamePackage(
        "negotiation-v2",
        rules="stratagem.games.negotiation_v2.rules:Division",
        safety="stratagem.games.negotiation_v2.safety:DivisionSafety",
        players="stratagem.games.negotiation_v2.players:PLAYERS",
        reasons="stratagem.games.negotiation_v2.demonstrations:REASONERS",
        face="stratagem.games.negotiation_v2.face:DivisionFace",
    ),
    GamePackage(
        "kuhn",
        rules="stratagem.games.kuhn.rules:Kuhn",
        safety="stratagem.games.kuhn.safety:KuhnSafety",
        players="stratagem.games.kuhn.players:PLAYERS",
        reasons="stratagem.games.kuhn.demonstrations:REASONERS",
        face="stratagem.games.kuhn.face:KuhnFace",
    ),
    GamePackage(
        "sender-receiver",
        rules="stratagem.games.sender_receiver.rules:SenderReceiver",
        players="stratagem.games.sender_receiver.players:PLAYERS",
        face="stratagem.games.sender_receiver.face:SenderReceiverFace",
    ),
    GamePackage(
        "resistance",
        rules="stratagem.games.resistance.rules:Resistance",
        players="stratagem.games.resistance.players:PLAYERS",
        face="stratagem.games.resistance.face:ResistanceFace",
    ),
    GamePackage(
        "quiz",
        rules="stratagem.games.quiz.rules:Quiz",
        players="stratagem.games.quiz.players:PLAYERS",
        face="stratagem.games.quiz.face:QuizFace",
    ),
    GamePackage(
        "drawn",
        rules="stratagem.games.drawn.seeded:DrawnGame",
        players={"drawn": "stratagem.games.drawn.players:PLAYERS"},
    ),
    GamePackage(
        "diplomacy",
        rules="stratagem.games.diplomacy:Diplomacy",
        players="stratagem.players.factories:COMMANDERS",
        face="stratagem.show.viewer.faces.diplomacy:DiplomacyFace",
    ),
    GamePackage(
        "drawn",
        rules={"described": "stratagem.games.drawn.rules:WrittenGame"},
        face={"drawn": "stratagem.games.drawn.face:DescribedFace"},
    ),
    GamePackage(
        "openspiel",
        rules="stratagem.games.spiel:SPIEL_GAMES",
        players={"liars-dice": "stratagem.players.liars_dice:PLAYERS"},
        face={
            "blind-auction": f"{_SPIEL_FACES}:BlindAuctionFace",
            "bargaining": f"{_SPIEL_FACES}:BargainingFace",
            "kuhn-spiel": f"{_SPIEL_FACES}:CardsFace",
            "leduc": f"{_SPIEL_FACES}:CardsFace",
            "liars-dice": f"{_SPIEL_FACES}:LiarsDiceFace",
            "goofspiel": f"{_SPIEL_FACES}:GoofspielFace",
            "nim": f"{_SPIEL_FACES}:NimFace",
            "pig": f"{_SPIEL_FACES}:PigFace",
            "tic-tac-toe": f"{_SPIEL_FACES}:GridFace",
            "connect-four": f"{_SPIEL_FACES}:GridFace",
            "breakthrough": f"{_SPIEL_FACES}:GridFace",
            "breakthrough-6x6": f"{_SPIEL_FACES}:GridFace",
        },
    ),
)
"""Declarations in the order in which games are listed; `rules` and `safety` load no player, and no face."""
