"""Known games whose digests are stored: `python tests/games/known_games.py` computes and stores them."""

import json
from pathlib import Path

from stratagem.games import drawn, make_game
from stratagem.games.drawn.canonical import KNOWN, canonical_digest
from stratagem.games.tree_walk import walk

STORED = Path(drawn.__file__).parent / KNOWN
REPEATED = ("ipd", "ipd-shapellm", "imp", "icg", "ish", "c-ipd", "prisoners-dilemma")
MATRICES = ("bos", "brps", "cd", "coordination", "mp", "pd", "rps", "rpsw", "sh", "shapleys_game")
SMALL_OF_OPENSPIEL = (
    "coordinated_mp",
    "deep_sea",
    "lewis_signaling",
    "matching_pennies_3p",
    "tiny_hanabi",
    "kuhn_poker(players=3)",
    *(f"liars_dice(dice_sides={sides})" for sides in (2, 3)),
    *(f"goofspiel(num_cards={cards},imp_info={hidden})" for cards in (2, 3) for hidden in ("true", "false")),
    *(f"goofspiel(num_cards={cards},points_order=descending)" for cards in (3, 4)),
    *(f"first_sealed_auction(max_value={most})" for most in (4, 6)),
    *(f"nim(pile_sizes={piles})" for piles in ("1;2", "1;3", "2;3", "1;2;3")),
)
SMALL = (
    "kuhn(hands=1)",
    "kuhn-spiel",
    "leduc",
    *(f"{name}(rounds={rounds})" for name in REPEATED for rounds in (1, 2, 3)),
    *(f"auction(rounds=1,seats={seats},price='{price}')" for price in ("first", "second") for seats in (2, 3)),
    "blind-auction",
    *(f"public-goods(rounds={rounds},seats={seats})" for seats, rounds in ((2, 1), (3, 1), (4, 1), (2, 2), (3, 2))),
    "negotiation-v1(rounds=1)",
    *(f"sender-receiver(states={states})" for states in (2, 3, 4, 5, 6)),
    *(f"sender-receiver(states={states},bias=0.0)" for states in (2, 3, 4)),
    *(f"spiel:matrix_{name}" for name in MATRICES),
    *(f"spiel:{name}" for name in SMALL_OF_OPENSPIEL),
)
"""Games of few nodes; where rounds know nothing of each other, the tree is that of one round."""
LARGE = (
    *(f"auction(rounds=2,price='{price}')" for price in ("first", "second")),
    "negotiation-v1(rounds=2)",
    "spiel:blotto",
    "spiel:kuhn_poker(players=4)",
    "spiel:liars_dice(dice_sides=4)",
    "spiel:leduc_poker(action_mapping=true)",
    "spiel:liars_dice(dice_sides=5)",
    *(f"spiel:goofspiel(num_cards=4,imp_info={hidden})" for hidden in ("true", "false")),
)


def digest_of(text):
    return canonical_digest(walk(make_game(text), one_round=True))


if __name__ == "__main__":
    table = {text: digest_of(text) for text in (*SMALL, *LARGE)}
    STORED.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
