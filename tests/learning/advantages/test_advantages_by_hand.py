"""Each estimator on a few decisions whose advantages are worked out by hand, or by another program."""

import math
from dataclasses import replace

import numpy as np
import pytest

from stratagem.base.errors import BadParameter, StratagemError, UnknownName
from stratagem.learn.advantages.base import Decisions, encode_values
from stratagem.learn.advantages.catalogue import ESTIMATORS, read_advantage
from stratagem.learn.advantages.gae import GAE
from stratagem.learn.advantages.per_order import PerOrder
from stratagem.learn.advantages.role_baseline import RoleBaseline
from stratagem.learn.advantages.scaled import Scaled
from stratagem.learn.advantages.whitened import Whitened


def approx(*values):
    return pytest.approx(values, abs=1e-9)


# --- against a group


def rollouts(**terms):
    """Three rollouts of two rounds from one start, and one alone in its group."""
    return Decisions(
        episode=[0, 0, 1, 1, 2, 2, 9, 9], group=[4, 4, 4, 4, 4, 4, 5, 5], round=[0, 1, 0, 1, 0, 1, 0, 1], terms=terms
    )


PAYOFF = [1.0, 2.0, 3.0, 6.0, 2.0, 4.0, 7.0, 7.0]


def made(text):
    return read_advantage(text).value


def test_an_episode_is_compared_with_the_mean_of_its_group():
    estimate = made("group_mean(std_epsilon=1e-12)")(rollouts(payoff=PAYOFF))
    assert estimate.advantage.tolist() == approx(-1.0, -1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    assert estimate.counts == {"rows": 8, "discarded": 0, "groups": 2, "groups_of_one": 1, "groups_without_variance": 0}


def test_without_the_spread_it_is_dr_grpo_and_with_leave_one_out_rloo():
    plain = made("group_mean(normalize_std=False)")(rollouts(payoff=PAYOFF)).advantage
    assert plain.tolist() == approx(-3.0, -3.0, 3.0, 3.0, 0.0, 0.0, 0.0, 0.0)
    left_out = made("rloo")(rollouts(payoff=PAYOFF)).advantage
    assert left_out.tolist() == approx(*(3.0 - 7.5,) * 2, *(9.0 - 4.5,) * 2, 0.0, 0.0, 0.0, 0.0)


def test_the_spread_is_trls():
    """`(r - mean) / (std + 1e-4)` with torch's std, which divides by n - 1."""
    rewards = np.array([0.3, 1.0, -0.2, 0.9])
    estimate = made("group_mean")(Decisions(episode=np.arange(4), group=np.zeros(4), terms={"payoff": rewards}))
    assert estimate.advantage.tolist() == approx(*((rewards - rewards.mean()) / (rewards.std(ddof=1) + 1e-4)))


def test_a_round_is_compared_with_the_same_round_of_the_others():
    estimate = made("per_round(return_to_go=False, std_epsilon=1e-12)")(rollouts(payoff=PAYOFF))
    assert estimate.advantage.tolist() == approx(-1.0, -1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    estimate = made("per_round(return_to_go=False, normalize_std=False)")(rollouts(payoff=PAYOFF))
    assert estimate.advantage.tolist() == approx(-1.0, -2.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0)
    assert estimate.counts["groups"] == 4
    assert estimate.counts["groups_of_one"] == 2


def test_a_round_is_worth_what_comes_from_it_on():
    estimate = made("per_round(normalize_std=False)")(rollouts(payoff=PAYOFF))
    assert estimate.advantage.tolist() == approx(-3.0, -2.0, 3.0, 2.0, 0.0, 0.0, 0.0, 0.0)


def test_myopia_lets_defection_win_every_round_and_the_horizon_to_go_does_not():
    """Two rounds of the dilemma against TitForTat: C C earns 3 3, D D earns 5 1."""
    play = {"episode": [0, 0, 1, 1], "group": [0] * 4, "round": [0, 1, 0, 1], "terms": {"payoff": [3.0, 3.0, 5.0, 1.0]}}
    first = [
        made(f"per_round(return_to_go={returns_to_go})")(Decisions(**play)).advantage[0]
        for returns_to_go in (False, True)
    ]
    assert first[0] < 0.0 == first[1]


def test_episodes_normalised_are_the_group_mean():
    decisions = rollouts(payoff=PAYOFF, exploit=[0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.0])
    weights = {"payoff": 1.0, "exploit": -2.0}
    whole = ESTIMATORS["per_round"](unit="episode", weights=weights)(decisions)
    assert whole.advantage.tolist() == ESTIMATORS["group_mean"](weights=weights)(decisions).advantage.tolist()


def test_several_decisions_of_a_round_share_its_credit():
    decisions = Decisions(
        episode=[0, 0, 0, 1, 1], group=[0] * 5, round=[0, 0, 1, 0, 1], terms={"payoff": [0.0, 2.0, 1.0, -1.0, 1.0]}
    )
    estimate = made("per_round(normalize_std=False, return_to_go=False)")(decisions)
    assert estimate.advantage.tolist() == approx(1.5, 1.5, 0.0, -1.5, 0.0)


def test_a_round_that_one_rollout_alone_reached_brings_nothing():
    decisions = Decisions(episode=[0, 0, 1], group=[0] * 3, round=[0, 1, 0], terms={"payoff": [1.0, 9.0, 2.0]})
    estimate = made("per_round(normalize_std=False)")(decisions)
    assert estimate.advantage.tolist() == approx(4.0, 0.0, -4.0)
    assert estimate.counts["groups_of_one"] == 1


# --- the trap: what is the same for all contributes nothing


@pytest.mark.parametrize(
    "name", ["group_mean", "per_round", "per_round(return_to_go=False)", "per_round(normalize_std=False)", "rloo"]
)
@pytest.mark.parametrize("shared", [0.1, 1 / 3, 1e9 + 0.7, -2.4e-7])
def test_a_penalty_that_is_the_same_for_all_contributes_nothing_to_the_bit(name, shared):
    rng = np.random.default_rng(0)
    columns = {"episode": np.repeat(np.arange(7), 3), "group": np.zeros(21), "round": np.tile(np.arange(3), 7)}
    payoff = rng.normal(size=21)
    estimator = replace(made(name), weights={"payoff": 1.0})
    plain = estimator(Decisions(**columns, terms={"payoff": payoff}))
    penalised = replace(estimator, weights={"payoff": 1.0, "shared": -2.4})
    both = penalised(Decisions(**columns, terms={"payoff": payoff, "shared": np.full(21, shared)}))
    assert both.advantage.tobytes() == plain.advantage.tobytes()
    assert both.term_advantages["shared"].tobytes() == np.zeros(21).tobytes()
    assert both.term_advantages["payoff"].tobytes() == plain.term_advantages["payoff"].tobytes()


def test_a_penalty_of_each_rollout_contributes_its_share():
    decisions = rollouts(payoff=PAYOFF, exploit=[0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 5.0, 0.0])
    estimate = ESTIMATORS["per_round"](normalize_std=False, weights={"payoff": 1.0, "exploit": -2.0})(decisions)
    assert estimate.term_advantages["exploit"].tolist() == approx(2.0, 0.0, -4.0, 0.0, 2.0, 0.0, 0.0, 0.0)
    assert estimate.advantage.tolist() == approx(-1.0, -2.0, -1.0, 2.0, 2.0, 0.0, 0.0, 0.0)


def test_a_group_without_variance_is_counted():
    estimate = made("group_mean")(rollouts(payoff=[1.0] * 8))
    assert estimate.advantage.tolist() == [0.0] * 8
    assert (estimate.counts["groups_without_variance"], estimate.counts["groups_of_one"]) == (1, 1)


# --- episodes backwards


def test_gae_by_hand():
    decisions = Decisions(
        episode=[0, 1, 0, 1, 0], terms={"payoff": [1.0, 4.0, 0.0, -1.0, 2.0]}, value=[0.5, 1.0, 1.5, 0.0, 1.0]
    )
    estimate = GAE(discount=0.9, gae_lambda=0.5)(decisions)
    last, middle = 2.0 - 1.0, 0.0 + 0.9 * 1.0 - 1.5 + 0.45 * 1.0
    first = 1.0 + 0.9 * 1.5 - 0.5 + 0.45 * middle
    other = 4.0 + 0.9 * 0.0 - 1.0 + 0.45 * -1.0
    assert estimate.advantage.tolist() == approx(first, other, middle, -1.0, last)
    assert estimate.returns.tolist() == approx(first + 0.5, other + 1.0, middle + 1.5, -1.0, last + 1.0)


def test_what_is_not_kept_is_as_if_it_had_not_been():
    """A discarded transition's payoff, and the value expected before it, reach nobody."""
    terms, value = {"payoff": [1.0, 500.0, 2.0]}, [0.5, -300.0, 1.0]
    whole = GAE()(Decisions(episode=[0, 0, 0], terms=terms, value=value, keep=[True, False, True]))
    without = GAE()(Decisions(episode=[0, 0], terms={"payoff": [1.0, 2.0]}, value=[0.5, 1.0]))
    assert whole.advantage[[0, 2]].tolist() == without.advantage.tolist()
    assert whole.advantage[1] == whole.returns[1] == 0.0
    assert (whole.counts["rows"], whole.counts["discarded"]) == (3, 1)


def test_whitened_advantages_are_those_of_trl():
    decisions = Decisions(episode=[0] * 4, terms={"payoff": [1.0, -2.0, 0.5, 3.0]}, value=[0.1, 0.2, -0.3, 0.4])
    plain, white = GAE()(decisions), Whitened(of=GAE())(decisions)
    wanted = (plain.advantage - plain.advantage.mean()) / np.sqrt(plain.advantage.var(ddof=1) + 1e-8)
    assert white.advantage.tolist() == approx(*wanted)
    assert white.returns.tolist() == plain.returns.tolist()


@pytest.mark.parametrize(("size", "divisor"), [(1.0, 1.5), (0.5, 1.0), (1e-3, 1.0)])
def test_a_spread_below_the_least_is_not_divided_by(size, divisor):
    """Returns to go of 1, 0, 3, 3, whose spread is 1.5: of those half as large it is .75, and of less than 1 no use."""
    decisions = Decisions(episode=[0, 0, 1, 1], terms={"payoff": size * np.array([1.0, 0.0, 0.0, 3.0])}, value=[0] * 4)
    white = Whitened(of=GAE(gae_lambda=1.0), advantage_std_floor=1.0)(decisions)
    assert white.advantage.tolist() == pytest.approx(size * np.array([-0.75, -1.75, 1.25, 1.25]) / divisor, rel=1e-6)
    with pytest.raises(BadParameter, match="advantage_std_floor"):
        Whitened(advantage_std_floor=-1.0)


def test_a_round_is_whitened_about_the_mean_of_the_same_round():
    """Returns to go of 3, 1 and 5, 2: about 4 and 1.5; the third round was reached by one episode alone."""
    terms = {"payoff": [2.0, 1.0, 3.0, 0.0, 2.0]}
    decisions = Decisions(episode=[0, 0, 1, 1, 1], terms=terms, value=np.zeros(5), round=[0, 1, 0, 1, 2])
    white = Whitened(of=GAE(gae_lambda=1.0), mean_over="round")(decisions)
    centred = np.array([-1.0, -0.5, 1.0, 0.5, 0.0])
    assert white.advantage.tolist() == approx(*(centred / np.sqrt(centred.var(ddof=1) + 1e-8)))
    with pytest.raises(UnknownName, match="batch"):
        Whitened(mean_over="game")
    with pytest.raises(BadParameter, match="`round`"):
        Whitened(of=GAE(), mean_over="round")(Decisions(episode=[0, 0], terms=terms | {"payoff": [1, 2]}, value=[0, 0]))


def test_scores_are_scaled_by_the_spread_of_all_so_far_and_penalties_are_not():
    estimator = Scaled(of=GAE(gae_lambda=1.0))
    state, seen = {}, []
    for scores in ([1.0, 2.0, 4.0], [10.0, 0.0], [3.0]):
        seen += scores
        terms = {"payoff": scores, "kl": [-0.1] * len(scores)}
        decisions = Decisions(episode=np.arange(len(scores)), terms=terms, value=np.zeros(len(scores)))
        estimate = estimator(decisions, state)
        state = estimate.state
        assert estimate.advantage.tolist() == pytest.approx([s / np.std(seen, ddof=1) - 0.1 for s in scores], rel=1e-6)
    assert state["scaled/payoff/count"] == 6.0
    assert state["scaled/payoff/mean"] == pytest.approx(np.mean(seen))


def test_scores_that_are_all_alike_stay_as_they_are():
    decisions = Decisions(episode=[0, 1], terms={"payoff": [3.0, 3.0]}, value=[0.0, 0.0])
    assert Scaled(of=GAE())(decisions).advantage.tolist() == [3.0, 3.0]


# --- by state and action


def positions(**more):
    """A pair that won, tied and lost; one that won twice; one that lost."""
    states, _ = encode_values(["start", "start", "corner", "start", "corner", "edge"])
    actions, _ = encode_values(["a", "a", "a", "a", "a", "b"])
    return Decisions(
        episode=[0, 1, 1, 2, 2, 3], state=states, action=actions, outcome=[1.0, 0.5, 1.0, 0.0, 1.0, 0.0], **more
    )


def test_the_win_rate_of_a_pair_counts_a_tie_as_half():
    estimate = made("step_win_rate")(positions())
    assert estimate.returns.tolist() == approx(0.5, 0.5, 1.0, 0.5, 1.0, 0.0)
    assert estimate.advantage.tolist() == approx(0.0, 0.0, 0.5, 0.0, 0.5, -0.5)
    assert (estimate.counts["pairs"], estimate.counts["advantageous"]) == (3, 2)


def test_the_posterior_mean_is_drawn_to_a_half():
    estimate = made("beta")(positions())
    assert estimate.returns.tolist() == approx(2.5 / 5, 2.5 / 5, 3 / 4, 2.5 / 5, 3 / 4, 1 / 3)
    uneven = made("beta(prior_wins=3, prior_losses=1)")(positions())
    assert uneven.returns.tolist() == approx(4.5 / 7, 4.5 / 7, 5 / 6, 4.5 / 7, 5 / 6, 3 / 5)


def test_the_discounted_return_of_a_pair_is_the_mean_over_its_times():
    estimate = made("discounted")(positions())
    start = (1.0 + 0.8 * 0.5 + 0.0) / 3
    assert estimate.returns.tolist() == approx(start, start, 1.0, start, 1.0, 0.0)
    signed = made("discounted(win_reward=1, tie_reward=0, loss_reward=-1, threshold=0)")(positions())
    start = (1.0 + 0.0 - 0.8) / 3
    assert signed.advantage.tolist() == approx(start, start, 1.0, start, 1.0, -1.0)


def test_spags_reward_is_its_formula():
    decisions = Decisions(episode=[0, 0, 0, 1, 2, 2], outcome=[1.0, 1.0, 1.0, 0.0, 0.5, 0.5])
    estimate = made("spag")(decisions)
    three, one = (0.2 / (1 - 0.8**4)), 0.2 / (1 - 0.8**2)
    assert estimate.advantage.tolist() == approx(three * 0.64, three * 0.8, three, -one, 0.0, 0.0)


# --- orders and roles


def orders(weight):
    """Two turns of two orders in one group: the first turn is worth 1 more than the mean, the second 1 less."""
    return Decisions(episode=[0, 0, 1, 1], group=[0] * 4, terms={"payoff": [3.0, 0.0, 1.0, 0.0]}, weight=weight)


@pytest.mark.parametrize("how", ["add", "multiply"])
def test_each_order_carries_its_weight(how):
    inner = made("group_mean(normalize_std=False)")
    estimate = PerOrder(of=inner, combine=how)(orders([1.5, -1.5, 0.3, 0.1]))
    wanted = (2.4, -0.6, -0.8, -1.0) if how == "add" else (1.5, -1.5, -0.3, -0.1)
    assert estimate.advantage.tolist() == approx(*wanted)


def test_multiplied_a_void_support_of_a_lost_game_is_reinforced_and_counted_else_it_is_not():
    inner, decisions = made("group_mean(normalize_std=False)"), orders([1.5, 0.3, 1.5, -1.5])
    product, size, total = (PerOrder(of=inner, combine=how)(decisions) for how in ("multiply", "magnitude", "add"))
    assert product.advantage[3] > 0.0
    assert (product.counts["double_negative"], size.counts["double_negative"]) == (1, 0)
    assert size.advantage.tolist() == approx(1.5, 0.3, -1.5, -1.5)
    assert total.advantage[3] < total.advantage[2] < 0.5
    assert total.advantage[3] < -1.0


def test_a_role_is_compared_with_what_is_usual_for_it():
    estimator = RoleBaseline(ema_decay=0.5)
    first = Decisions(
        episode=[7, 1, 7, 2], role=[0, 1, 0, 0], roles=("kuhn/0", "kuhn/1"), terms={"payoff": [1.0, -2.0, 1.0, 4.0]}
    )
    estimate = estimator(first)
    assert estimate.advantage.tolist() == approx(2.0, -2.0, 2.0, 4.0 - 1.0)
    assert estimate.state == {"role_baseline/kuhn/0": 2.5, "role_baseline/kuhn/1": -1.0}
    after = Decisions(episode=[0], role=[0], roles=("kuhn/1",), terms={"payoff": [1.0]})
    again = estimator(after, estimate.state)
    assert again.advantage.tolist() == approx(2.0)
    assert again.state == {"role_baseline/kuhn/0": 2.5, "role_baseline/kuhn/1": 0.0}


def test_the_baseline_comes_to_the_mean_reward_of_a_role():
    rng = np.random.default_rng(1)
    decisions = Decisions(
        episode=np.arange(3000), role=np.zeros(3000), roles=("x",), terms={"payoff": rng.normal(0.7, 0.5, 3000)}
    )
    estimate = RoleBaseline()(decisions)
    assert estimate.state["role_baseline/x"] == pytest.approx(0.7, abs=0.25)
    assert abs(estimate.advantage[500:].mean()) < 0.05


# --- names, and what is refused


def test_names_are_those_of_the_files():
    modules = {name: type(made(name)).__module__.rpartition(".")[2] for name in read_advantage.registry.names()}
    assert {name for name, module in modules.items() if name != module} == {"rloo"}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: made("per_rounds"), "did you mean per_round"),
        (lambda: made("per_round(return_to_go=far)"), "valid boolean"),
        (lambda: made("per_round(unit=group)"), "'round' or 'episode'"),
        (lambda: made("group_mean(std_epsilon=0)"), "`std_epsilon`"),
        (lambda: made("gae(gae_lambda=2)"), "`gae_lambda` must be a number from 0 to 1"),
        (lambda: made("per_order(combine=minus)"), "multiply"),
        (lambda: made("group_mean")(Decisions(episode=[0], terms={"payoff": [1.0]})), "`group`"),
        (lambda: made("gae")(Decisions(episode=[0], terms={"payoff": [1.0]})), "`value`"),
        (lambda: ESTIMATORS["gae"](weights={"payof": 1.0})(rollouts(payoff=PAYOFF)), "did you mean payoff"),
        (lambda: made("scaled(reward_term=score)")(rollouts(payoff=PAYOFF)), "payoff"),
        (
            lambda: made("role_baseline")(Decisions(episode=[0], role=[0], terms={"payoff": [1.0]})),
            "`roles`",
        ),
        (lambda: Decisions(episode=[0, 1], group=[0]), "`group` has shape"),
        (lambda: Decisions(episode=[0], terms={"payoff": [math.nan]}), "not finite"),
        (lambda: Decisions(episode=[0], outcome=[-1.0]), "0 for a loss"),
    ],
)
def test_mistakes_are_refused_in_a_sentence(make, said):
    with pytest.raises(StratagemError, match=said) as refused:
        make()
    assert str(refused.value).endswith((".", "?"))


def test_terms_of_a_message_are_its_effects_and_add_up_to_its_advantage():
    """Two episodes of a message and a move: 5 and 1 in all, with 2 in each where silence stood in its place."""
    decisions = Decisions(
        episode=[0, 0, 1, 1],
        group=[0, 0, 0, 0],
        round=[0, 1, 0, 1],
        message=[True, False, True, False],
        terms={"payoff": [1.0, 4.0, 1.0, 0.0], "harm": [0.0, 1.0, 0.0, 0.0]},
        silenced={"payoff": [2.0, 0.0, 2.0, 0.0], "harm": [0.5, 0.0, 0.5, 0.0]},
    )
    estimate = made("message_effect")(decisions)
    assert estimate.term_advantages["payoff"].tolist() == approx(3.0, 2.0, -1.0, -2.0)
    assert estimate.term_advantages["harm"].tolist() == approx(0.5, 0.5, -0.5, -0.5)
    assert estimate.centred_terms["payoff"].tolist() == approx(3.0, 2.0, -1.0, -2.0)
    assert estimate.advantage.tolist() == approx(3.5, 2.5, -1.5, -2.5)


def test_message_has_no_share_of_the_weight_of_an_order():
    """The order of the second turn weighs 2 more than the mean, and so would the message of the first."""
    decisions = Decisions(
        episode=[0, 0, 1, 1],
        group=[0, 0, 0, 0],
        round=[0, 1, 0, 1],
        message=[True, False, True, False],
        weight=[2.0, 2.0, -2.0, -2.0],
        terms={"payoff": [1.0, 4.0, 1.0, 0.0]},
        silenced={"payoff": [2.0, 0.0, 2.0, 0.0]},
    )
    estimate = made("message_effect(of=per_order(of=rloo))")(decisions)
    assert estimate.term_advantages["order"].tolist() == approx(0.0, 2.0, 0.0, -2.0)
    assert estimate.term_advantages["payoff"].tolist() == approx(3.0, 4.0, -1.0, -4.0)
    assert estimate.advantage.tolist() == approx(3.0, 6.0, -1.0, -6.0)


def test_each_scaled_term_has_moments_of_its_own():
    """The inner one divides the penalties by their std of 5, and not by that of the payoffs of an earlier batch."""
    estimator = made("scaled(of=scaled(of=group_mean(normalize_std=False), reward_term=exploit))")
    terms = {"payoff": [0.0, 0.2, 0.4], "exploit": [0.0, 5.0, 10.0]}
    decisions = Decisions(episode=[0, 1, 2], group=[0, 0, 0], terms=terms)
    once = estimator(decisions)
    assert once.advantage.tolist() == pytest.approx([-2.0, 0.0, 2.0], rel=1e-5)
    again = estimator(decisions, once.state)
    ratio = np.std([*terms["exploit"]] * 2, ddof=1) / 5.0
    assert again.advantage.tolist() == pytest.approx([-2.0 / ratio, 0.0, 2.0 / ratio], rel=1e-5)
