"""Sealed-bid auction in rounds: rules here, and beside them safety, players, reasons of demonstrators and face."""

from stratagem.games.auction.rules import BIDS, PRICES, VALUES, Auction, AuctionFacts, AuctionState, PastRound

__all__ = ["BIDS", "PRICES", "VALUES", "Auction", "AuctionFacts", "AuctionState", "PastRound"]
