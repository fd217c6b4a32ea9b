"""Payoffs of the linear public goods game: `1 - c_i + (m / n) sum c_j` (Ledyard 1995)."""

from itertools import product

import pytest

from stratagem.base.errors import BadParameter, IllegalAction
from stratagem.games import Key, make_game
from stratagem.language.prompting.catalogue import make_style
from stratagem.measure.exploitability.exact import exact
from stratagem.players.catalogue import make_player

GAVE, KEPT = "CONTRIBUTE", "KEEP"


def played(text, *rounds):
    """The payoffs of each round, and the state after the last."""
    state = make_game(text).start(Key(0))
    return [state.play(dict(enumerate(actions))).payoffs for actions in rounds], state


@pytest.mark.parametrize(("seats", "multiplier"), [(2, 1.5), (3, 2.0), (4, 3.0)])
def test_payoffs_are_those_of_the_formula(seats, multiplier):
    text = f"public-goods(seats={seats}, multiplier={multiplier}, rounds={2**seats})"
    profiles = list(product((GAVE, KEPT), repeat=seats))
    paid, state = played(text, *profiles)
    for actions, payoffs in zip(profiles, paid, strict=True):
        share = multiplier / seats * actions.count(GAVE)
        assert payoffs == pytest.approx([share + (action == KEPT) for action in actions])
    assert state.over


def test_it_is_a_dilemma():
    (all_give, one_keeps, all_keep), _ = played("public-goods", (GAVE,) * 3, (KEPT, GAVE, GAVE), (KEPT,) * 3)
    assert all_give == pytest.approx((2.0, 2.0, 2.0))
    assert one_keeps == pytest.approx((7 / 3, 4 / 3, 4 / 3))
    assert all_keep == (1.0, 1.0, 1.0)


def test_who_says_nothing_keeps():
    (silent,), _ = played("public-goods", (None, GAVE, GAVE))
    assert silent == pytest.approx((7 / 3, 4 / 3, 4 / 3))


def test_each_seat_is_told_of_itself_first():
    _, state = played("public-goods", (KEPT, GAVE, GAVE))
    assert [state.view(seat).facts.gave for seat in range(3)] == [
        ((False, True, True),), ((True, True, False),), ((True, False, True),)
    ]  # fmt: skip
    assert "1. you kept; the others: contributed, contributed" in state.view(0).situation


def test_histories_that_end_alike_have_one_brief_prompt():
    style = make_style("brief")
    _, one = played("public-goods", (KEPT, KEPT, KEPT), (GAVE, KEPT, GAVE))
    _, other = played("public-goods", (GAVE, GAVE, GAVE), (GAVE, GAVE, KEPT))
    assert style.messages(one.view(0)) == style.messages(other.view(0))
    assert style.messages(one.view(0)) != style.messages(one.view(1))


@pytest.mark.parametrize("option", ["seats=1", "rounds=0", "multiplier=-1", "multiplier=nan", "fine=-1", "fine=inf"])
def test_what_is_no_game_is_refused(option):
    with pytest.raises(BadParameter):
        make_game(f"public-goods({option})")


@pytest.mark.parametrize("actions", [{0: GAVE, 1: GAVE}, {0: "GIVE", 1: GAVE, 2: GAVE}, {0: GAVE, 1: GAVE, 3: GAVE}])
def test_what_cannot_be_played_is_refused(actions):
    with pytest.raises(IllegalAction):
        make_game("public-goods").start(Key(0)).play(actions)


FINED = "public-goods(rounds={rounds}, fine={fine})"
SPARE, KEEPERS, CONTRIBUTORS = "SPARE", "PUNISH KEEPERS", "PUNISH CONTRIBUTORS"


def test_a_fine_costs_a_third_of_what_it_takes():
    """Fehr and Gächter (2002): who punishes pays 1 for each 3 that the punished lose."""
    (opened, paid, _, antisocial), state = played(
        FINED.format(rounds=2, fine=0.6),
        (KEPT, GAVE, GAVE), (SPARE, KEEPERS, KEEPERS), (KEPT, GAVE, GAVE), (CONTRIBUTORS, KEEPERS, None),
    )  # fmt: skip
    assert opened == (0.0, 0.0, 0.0)
    assert paid == pytest.approx((7 / 3 - 1.2, 4 / 3 - 0.2, 4 / 3 - 0.2))
    assert antisocial == pytest.approx((7 / 3 - 0.6 - 0.4, 4 / 3 - 0.6 - 0.2, 4 / 3 - 0.6))
    assert state.over
    assert "1. you kept; the others: contributed, contributed; you spared everybody; the others:" in (
        state.view(0).situation
    )


def test_nobody_punishes_themselves():
    (_, paid), _ = played(FINED.format(rounds=1, fine=0.3), (KEPT, KEPT, GAVE), (KEEPERS, SPARE, SPARE))
    assert paid == pytest.approx((5 / 3 - 0.1, 5 / 3 - 0.3, 2 / 3))


@pytest.mark.parametrize(
    ("rules", "player", "nash_conv"),
    [
        ("rounds=3", "AlwaysKeep", 0.0),
        ("rounds=1", "AlwaysContribute", 3 * (1 - 2 / 3)),
        ("rounds=3", "GrimContributor", 3 * (1 / 3) / 3),
        ("rounds=2, fine=0.5", "AlwaysKeep", 0.0),
        ("rounds=2, fine=0.5", "Punisher", 0.0),
        ("rounds=1, fine=0.1", "Punisher", 3 * (1 / 3 - 2 * 0.1)),
        ("rounds=1, fine=0.1", "AlwaysContribute", 3 * (1 / 3)),
    ],
)
def test_equilibria(rules, player, nash_conv):
    """To keep gains 1 - m/n, which is dominant in one round, and does not pay where two others fine it by more."""
    game = make_game(f"public-goods({rules})")
    assert exact(game, make_player(player, game)).nash_conv == pytest.approx(nash_conv, abs=1e-9)


def test_the_optimum_is_that_all_contribute():
    game = make_game("public-goods(rounds=1)")
    totals = {profile: sum(played("public-goods", profile)[0][0]) for profile in product((GAVE, KEPT), repeat=3)}
    assert max(totals, key=totals.get) == (GAVE,) * 3
    assert totals[GAVE, GAVE, GAVE] == pytest.approx(game.multiplier * 3)


@pytest.mark.parametrize(
    ("player", "others", "gives"),
    [
        ("ConditionalContributor", "CC CK KK KC CC", "CCCKC"),
        ("ConditionalContributor(share=1)", "CC CK KK KC CC", "CCKKK"),
        ("GrimContributor", "CC CK CC CC CC", "CCKKK"),
        ("AlwaysContribute", "KK KK KK KK KK", "CCCCC"),
        ("AlwaysKeep", "CC CC CC CC CC", "KKKKK"),
        ("Punisher", "KK CC KK CC KK", "CCCCC"),
    ],
)
def test_players_by_transcript(player, others, gives):
    game = make_game("public-goods(rounds=5)")
    state, made = game.start(Key(0)), ""
    for pair in others.split():
        (action,) = make_player(player, game).policy(state.view(0))
        made += "C" if action == GAVE else "K"
        state.play({0: action} | {seat: GAVE if one == "C" else KEPT for seat, one in enumerate(pair, 1)})
    assert made == gives


def test_punisher_punishes_keepers_and_others_spare():
    game = make_game(FINED.format(rounds=1, fine=0.5))
    state = game.start(Key(0))
    state.play({0: GAVE, 1: KEPT, 2: GAVE})
    assert [make_player(name, game).policy(state.view(0)) for name in ("Punisher", "GrimContributor")] == [
        {KEEPERS: 1.0},
        {SPARE: 1.0},
    ]


def test_a_state_from_before_there_were_fines_loads():
    state = make_game("public-goods").start(Key(0))
    state.play({0: GAVE, 1: KEPT, 2: GAVE})
    dumped = state.dump()
    del dumped["punished"]
    assert make_game("public-goods").load(dumped, Key(0)).dump() == state.dump()


def test_honest_seats_of_public_goods_keep_what_they_promise():
    game = make_game("talk(public-goods(rounds=1))")
    state = game.start(Key(0))
    honest, liar = (make_player(f"{kind}(AlwaysContribute)", game) for kind in ("honest", "liar"))
    assert honest.policy(state.view(0)) == {"I will CONTRIBUTE": 1.0}
    assert liar.policy(state.view(1)) == {"I will KEEP": 1.0}
    state.play({0: "I will CONTRIBUTE", 1: "I will KEEP", 2: "SILENT"})
    assert honest.policy(state.view(0)) == liar.policy(state.view(1)) == {GAVE: 1.0}
