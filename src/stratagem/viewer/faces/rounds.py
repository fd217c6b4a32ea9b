"""Faces of games that are played in rounds of simultaneous moves: the present round, and those before."""

from __future__ import annotations

import re
from typing import Any

from stratagem.games.auction import BIDS, Auction, AuctionState
from stratagem.games.base import Json, State
from stratagem.games.matrix import MatrixGame, MatrixState
from stratagem.games.public_goods import PublicGoods, PublicGoodsState
from stratagem.games.questions import LETTERS, Questions, QuizState
from stratagem.games.spiel.rules import SpielRules
from stratagem.viewer.faces.base import STATIC, Actions, GameFace
from stratagem.viewer.faces.spiel import node_of, text_of


class MatrixFace(GameFace):
    """Table of payoffs, and the moves of the rounds that counted."""

    module = STATIC / "face_matrix.js"
    rules = MatrixGame

    def frame(self, state: State[Any]) -> Json:
        assert isinstance(state, MatrixState)
        game = state.game
        return {
            "payoffs": game.payoffs,
            "labels": [game.seat_labels(0), game.seat_labels(1)],
            "moves": list(zip(*state.moves, strict=True)),
            "rounds": game.rounds,
        }


class AuctionFace(GameFace):
    """Private values of the round, and values, bids and payoffs of those before."""

    module = STATIC / "face_auction.js"
    rules = Auction

    def frame(self, state: State[Any]) -> Json:
        assert isinstance(state, AuctionState)
        past = [
            {
                "values": [row.value for row in rows],
                "bids": [BIDS[row.bid - 1] for row in rows],
                "payoffs": [row.payoff for row in rows],
                "best": [not row.lost for row in rows],
            }
            for rows in zip(*state.past, strict=True)
        ]
        return {"values": None if state.over else list(state.values), "past": past, "rounds": state.game.rounds}


class BlindAuctionFace(GameFace):
    """One auction by OpenSpiel, which writes values, bids and the winner as `3,10;2,4;1`."""

    module = STATIC / "face_auction.js"
    rules = SpielRules

    def frame(self, state: State[Any]) -> Json:
        parts = [[int(number) for number in re.findall(r"\d+", part)] for part in text_of(state).split(";")]
        values, bids, winner = [*parts, [], []][:3]
        made = [str(bid) for bid in bids] + [None] * (len(values) - len(bids))
        best = [seat in winner for seat in range(len(values))]
        payoffs = list(node_of(state).returns()) if winner else [None] * len(values)
        row = {"values": values, "bids": made, "best": best, "payoffs": payoffs}
        return {"values": None if bids else values, "past": [row] if bids else [], "rounds": 1}


class PublicGoodsFace(GameFace):
    """Contributions and punishments round by round."""

    module = STATIC / "face_goods.js"
    rules = PublicGoods

    def frame(self, state: State[Any]) -> Json:
        assert isinstance(state, PublicGoodsState)
        game = state.game
        told = {"gave": state.gave, "punished": state.punished, "fine": game.fine}
        return {**told, "multiplier": game.multiplier, "rounds": game.rounds}


class QuizFace(GameFace):
    """Question that a turn answered, with the right answer."""

    module = STATIC / "face_quiz.js"
    rules = Questions

    def frame(self, state: State[Any]) -> Json:
        assert isinstance(state, QuizState)
        question, answers, _ = state.item  # who is to answer must not read which is right
        return {"question": question, "answers": answers, "letters": LETTERS, "right": None, "chosen": None}

    def after(self, before: State[Any], after: State[Any], actions: Actions) -> Json:
        assert isinstance(before, QuizState)
        return {**self.frame(before), "right": before.item[2], "chosen": actions.get(0) or ""}
