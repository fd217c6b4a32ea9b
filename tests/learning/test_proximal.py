"""A whole batch of proximal policy optimization against one written by hand: trl 0.11's PPOTrainer.step, unpacked."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from stratagem.algorithms.shapellm.language_seat import ValueHead
from stratagem.base.errors import BadParameter
from stratagem.games.key import Key
from stratagem.language.models.adapters import active, adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.learn.advantages.catalogue import read_advantage
from stratagem.learn.example import OLD_LOGPROBS, Example
from stratagem.learn.kl_controller import AdaptiveKLSettings
from stratagem.learn.learner import Learner
from stratagem.learn.losses.ppo import PPO
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy
from stratagem.learn.proximal import Batches, OldOutputs, PPOBatch, PPOLearner, PPOSettings, old_outputs
from stratagem.learn.schedules import Schedule

SETTINGS = PPOSettings(
    clip_range=0.002,
    clip_range_value=0.01,
    value_coef=0.3,
    discount=0.9,
    gae_lambda=0.8,
    batches=Batches(batch_size=8, mini_batch_size=3, epochs=2),
)
RATE = 3e-3


def made(settings=SETTINGS, rate=RATE, dtype="fp32"):
    lm = load("tiny", dtype=dtype)
    add_adapter(lm, "one", 2, 32, ["q_proj", "v_proj"], seed=1)
    head = ValueHead(lm)
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for weight in (*adapter_parameters(lm, "one"), *head.parameters()):
            weight += 0.03 * torch.randn(weight.shape, generator=generator)
    weights = [*adapter_parameters(lm, "one"), *head.parameters()]
    optimizer = Optimizer(weights, OptimizerSettings(learning_rate=rate, max_grad_norm=1e9), 1000)
    policy = Policy(lm, max_tokens_per_microbatch=60, fp32_head=True)
    learner = Learner(policy, PPO(), optimizer, adapter="one", value_head=head)
    return PPOLearner(learner, settings)


def played(seed, number=16):
    """Episodes of four decisions; every third decision is of two tokens."""
    rng = Key(seed).rng()
    examples = []
    for decision in range(number):
        tokens = (5, 9, *(rng.randrange(40, 60) for _ in range(rng.randrange(3, 6))))
        taught = (len(tokens) - 2, len(tokens) - 1) if decision % 3 == 0 else (len(tokens) - 1,)
        examples.append(Example(tokens=tokens, loss_positions=taught))
    scores = [rng.choice([0.0, 1.0, 3.0, 4.0]) for _ in examples]
    return PPOBatch(examples, [decision // 4 for decision in range(number)], scores)


def say(lm, head, example, adapter):
    """Log-probabilities and values of an example's tokens, read alone."""
    with active(lm, adapter):
        out = lm.model(input_ids=torch.tensor([example.tokens]), output_hidden_states=True)
    before = [place - 1 for place in example.loss_positions]
    rows = torch.log_softmax(out.logits[0].float(), -1)[before]
    said = rows[range(len(before)), [example.tokens[place] for place in example.loss_positions]]
    return said, head(out.hidden_states[-1][0][before])[:, 0]


class Moments:
    """RunningMoments of trl 0.11, without its first count of 1e-24."""

    def __init__(self):
        self.seen = []

    def update(self, scores):
        self.seen += scores
        return np.std(self.seen, ddof=1)


def advantages(rewards, values, gamma, lam):
    """compute_advantages of an episode."""
    last, backwards = 0.0, []
    for t in reversed(range(len(rewards))):
        following = values[t + 1] if t + 1 < len(rewards) else 0.0
        last = rewards[t] + gamma * following - values[t] + gamma * lam * last
        backwards.append(last)
    return np.array(backwards[::-1])


class ByHand:
    """PPOTrainer.step, one example at a time."""

    def __init__(self, ours):
        self.lm, self.head = ours.learner.policy.lm, ours.learner.value_head
        self.settings, self.beta, self.moments = ours.settings, 0.2, Moments()
        self.adam = torch.optim.AdamW(ours.learner.optimizer.weights, lr=RATE, weight_decay=0.0)

    def step(self, some, key):
        with torch.no_grad():
            old = [say(self.lm, self.head, example, "one") for example in some.examples]
            reference = [say(self.lm, self.head, example, None)[0] for example in some.examples]
        gained, returns = self.credit(some, old, reference)
        for places in self.settings.batches.draw_steps(len(some.examples), key):
            self.minibatch([(some.examples[n], *old[n], gained[n], returns[n]) for n in places])
        kl = np.mean([float((said - ref).sum()) for (said, _), ref in zip(old, reference, strict=True)])
        self.beta *= 1 + np.clip(kl / 6 - 1, -0.2, 0.2) * len(some.examples) / 10_000

    def credit(self, some, old, reference):
        scale = self.moments.update(some.scores) + np.finfo(np.float32).eps
        rewards = []
        for (said, _), ref, score in zip(old, reference, some.scores, strict=True):
            reward = -self.beta * (said - ref).double().numpy()
            reward[-1] += score / scale
            rewards.append(reward)
        values = [value.double().numpy() for _, value in old]
        found = []
        for episode in sorted(set(some.episodes)):
            few = [n for n, one in enumerate(some.episodes) if one == episode]
            joined = [np.concatenate([column[n] for n in few]) for column in (rewards, values)]
            found.append(advantages(*joined, self.settings.discount, self.settings.gae_lambda))
        gained = np.concatenate(found)
        returns = gained + np.concatenate(values)
        whitened = (gained - gained.mean()) / np.sqrt(gained.var(ddof=1) + 1e-8)
        ends = np.cumsum([len(value) for value in values])[:-1]
        return np.split(whitened, ends), np.split(returns, ends)

    def minibatch(self, rows):
        clip, value_clip = self.settings.clip_range, self.settings.clip_range_value
        policy, value = [], []
        for example, old, old_value, gained, came in rows:
            said, now = say(self.lm, self.head, example, "one")
            gained, came = torch.tensor(gained).float(), torch.tensor(came).float()
            rho = torch.exp(said - old)
            policy.append(torch.max(-gained * rho, -gained * torch.clamp(rho, 1 - clip, 1 + clip)))
            near = torch.max(torch.min(now, old_value + value_clip), old_value - value_clip)
            value.append(torch.max((now - came) ** 2, (near - came) ** 2))
        loss = torch.cat(policy).mean() + self.settings.value_coef * 0.5 * torch.cat(value).mean()
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()


def weights_of(learner):
    return torch.cat([weight.detach().flatten() for weight in learner.optimizer.weights])


def test_two_batches_move_the_weights_as_trl_does():
    ours, theirs = made(), ByHand(other := made())
    start = weights_of(ours.learner)
    for seed in (1, 2):
        reports = list(ours.update(played(seed, 8), Key(seed)))
        theirs.step(played(seed, 8), Key(seed))
        moved = (weights_of(ours.learner) - start).abs()
        apart = (weights_of(ours.learner) - weights_of(other.learner)).abs()
        assert len(reports) == ours.settings.batches.steps(8) == 6
        assert moved.mean() > 1e-3
        assert apart.max() < 1e-5
        assert ours.controller.coefficient == pytest.approx(theirs.beta, rel=1e-7)
    shares = [report.metrics["policy/clip_fraction"] for report in reports]
    assert reports[0].metrics["policy/ratio_max"] == pytest.approx(1.0, abs=1e-5)
    assert max(shares) > 0.1
    assert max(report.metrics["value/clip_fraction"] for report in reports) > 0.0


def test_old_figures_are_fixed_once_for_all_batches_and_epochs():
    ours, some = made(), played(1)
    before = old_outputs(ours.learner, some.examples)
    told = {}
    for report in ours.update(some, Key(1)):
        for example in report.examples:
            told.setdefault(example.tokens, set()).add((example.columns["old_logprobs"], example.columns["old_value"]))
    assert all(len(columns) == 1 for columns in told.values())
    first = next(iter(told[some.examples[0].tokens]))
    assert first == (tuple(before.policy_logprobs[:2].tolist()), tuple(before.values[:2].tolist()))
    assert np.abs(before.policy_logprobs - before.reference_logprobs).min() > 1e-6
    assert np.abs(old_outputs(ours.learner, some.examples).values - before.values).min() > 1e-6


def test_a_resumed_one_takes_the_same_steps():
    settings = SETTINGS.model_copy(update={"entropy_coef": Schedule(start=0.1, steps=3)})
    whole, broken = made(settings), made(settings)
    for one in (whole, broken):
        list(one.update(played(1, 8), Key(1)))
    resumed = PPOLearner(broken.learner, settings)
    resumed.restore(copy.deepcopy(broken.state()))
    for one in (whole, resumed):
        list(one.update(played(2, 8), Key(2)))
    assert torch.equal(weights_of(whole.learner), weights_of(resumed.learner))
    assert resumed.state() == whole.state()
    assert whole.learner.loss.entropy_coef == pytest.approx(0.1 * 2 / 3)
    forgetful = made(settings)
    list(forgetful.update(played(2, 8), Key(2)))
    assert forgetful.state() != whole.state()


def test_the_state_is_plain_data():
    ours = made()
    list(ours.update(played(1, 8), Key(1)))
    state = ours.state()
    assert state["learnt"] == 1
    assert {type(value) for value in (*state["scores"].values(), *state["kl"].values())} == {float}
    assert ours.last_metrics["kl_coef"] == 0.2 > state["kl"]["coefficient"]


def test_steps_that_go_too_far_are_undone():
    near, far = (made(SETTINGS.model_copy(update={"max_update_kl": bound})) for bound in (1e-9, 1e9))
    for one in (near, far):
        list(one.update(played(1, 8), Key(1)))
    start, state = weights_of(near.learner), copy.deepcopy(near.learner.optimizer.state())
    for one in (near, far):
        list(one.update(played(2, 8), Key(2)))
    assert (near.last_metrics["undone"], far.last_metrics["undone"]) == (1.0, 0.0)
    assert torch.equal(weights_of(near.learner), start)
    assert not torch.equal(weights_of(far.learner), start)
    again = near.learner.optimizer.state()
    assert again["taken"] == state["taken"]
    assert near.num_updates == 2
    for number, moments in state["adam"]["state"].items():
        assert all(torch.equal(again["adam"]["state"][number][name], value) for name, value in moments.items())
    unbound = made()
    for batch in (1, 2):
        list(unbound.update(played(batch, 8), Key(batch)))
    assert torch.equal(weights_of(unbound.learner), weights_of(far.learner))


def test_the_bound_is_on_how_much_rarer_the_batch_became():
    free = made(SETTINGS.model_copy(update={"max_update_kl": 1e9}))
    before = old_outputs(free.learner, played(2, 8).examples).policy_logprobs
    list(free.update(played(2, 8), Key(2)))
    rarer = float((before - old_outputs(free.learner, played(2, 8).examples).policy_logprobs).mean())
    assert abs(rarer) > 1e-6
    for bound, undone in ((0.5 * abs(rarer), float(rarer > 0.0)), (2.0 * abs(rarer), 0.0)):
        bound_by = made(SETTINGS.model_copy(update={"max_update_kl": bound}))
        list(bound_by.update(played(2, 8), Key(2)))
        assert bound_by.last_metrics["undone"] == undone


def test_the_kl_of_a_batch_is_from_the_policy_to_its_reference():
    ours = made()
    said = old_outputs(ours.learner, played(1).examples)
    list(ours.update(played(1), Key(1)))
    kl = float((said.policy_logprobs - said.reference_logprobs).sum()) / 16
    assert abs(kl) > 1e-4
    assert ours.last_metrics["kl"] == pytest.approx(kl)


def test_scores_and_penalties_can_be_left_as_they_are():
    ours = made(PPOSettings(scale_scores=False, adaptive_kl=AdaptiveKLSettings(target_kl=None)))
    list(ours.update(played(1, 8), Key(1)))
    assert (ours.state()["scores"]["count"], ours.state()["kl"]) == (0.0, {"coefficient": 0.2})


def test_what_is_lacking_is_told():
    learner = made().learner
    with pytest.raises(BadParameter, match="without decisions"):
        list(made().update(PPOBatch([], [], []), Key(0)))
    learner.value_head = None
    with pytest.raises(BadParameter, match="value head"):
        PPOLearner(learner, SETTINGS)


def test_a_scaled_head_says_more_and_is_moved_farther_by_a_step_of_one_size():
    """Adam's steps do not know the scale of a gradient, so a value moves as many times as far as its head is scaled."""
    lm = load("tiny")
    moved = []
    for scale in (1.0, 50.0):
        head = ValueHead(lm, scale)
        states = torch.ones(1, lm.model.config.hidden_size)
        adam = torch.optim.Adam(head.parameters(), lr=1e-3)
        ((head(states) - 9.0) ** 2).sum().backward()
        adam.step()
        moved.append(head(states).item())
    assert moved[1] == pytest.approx(50.0 * moved[0], rel=1e-3)


def test_ratios_in_bf16_are_one_to_the_bit_until_weights_change(monkeypatch):
    """Mini-batches are packed otherwise than the batch, and rounding moves ratios by more than a clip range of 1e-4."""
    settings = SETTINGS.model_copy(update={"batches": Batches(batch_size=16, mini_batch_size=3)})

    def ends():
        reports = list(made(settings, rate=1e-30, dtype="bf16").update(played(1, 8), Key(2)))
        return {
            size for one in reports for name, size in one.metrics.items() if name.endswith(("ratio_min", "ratio_max"))
        }

    assert ends() == {1.0}
    monkeypatch.setattr(PPOLearner, "read_in_steps", lambda self, examples, plain, steps: examples)
    assert max(ends()) - 1.0 > 1e-4


def test_every_token_has_the_episode_and_the_turn_of_its_decision():
    """`advantage_mean_over = "turn"` takes the mean over tokens at the same turn of all episodes."""
    batch = replace(played(2), turns=[decision % 4 for decision in range(16)])
    sizes = [len(example.loss_positions) for example in batch.examples]
    nothing = np.zeros(sum(sizes))
    found = made().decisions_of(batch, OldOutputs(nothing, nothing, nothing))
    assert found.round.tolist() == [decision % 4 for decision, size in enumerate(sizes) for _ in range(size)]
    assert found.episode.tolist() == [decision // 4 for decision, size in enumerate(sizes) for _ in range(size)]


def test_others_scores_have_the_divisor_of_the_own_scores_and_stand_at_the_same_tokens():
    batch, learner = played(2), made()
    batch = replace(batch, others_scores=[2.0 * score for score in batch.scores])
    nothing = np.zeros(sum(len(example.loss_positions) for example in batch.examples))
    found = learner.decisions_of(batch, OldOutputs(nothing, nothing, nothing))
    assert learner.scaling.divisor != pytest.approx(1.0)
    assert found.others["score"] == pytest.approx(2.0 * found.terms["score"])
    assert not found.others["kl"].any()
    assert found.others.keys() == found.terms.keys()


def test_estimator_of_a_recipe_takes_the_place_of_gae_and_trains_no_value_head():
    """With equal returns of all episodes at each turn nothing moves, and the value head never does."""
    settings = SETTINGS.model_copy(
        update={
            "value_coef": 0.0,
            "advantage": read_advantage("per_round"),
            "adaptive_kl": AdaptiveKLSettings(initial_kl_coef=0.0),
        }
    )
    for scores, moves in (([1.0, 2.0, 3.0, 4.0] * 2, False), ([1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0], True)):
        learner = made(settings)
        before = [weight.detach().clone() for weight in learner.learner.optimizer.weights]
        batch = replace(played(2, 8), scores=scores, turns=[0, 1, 2, 3] * 2)
        list(learner.update(batch, Key(0)))
        *adapter, bias, head = [
            bool((weight != old).any()) for weight, old in zip(learner.learner.optimizer.weights, before, strict=True)
        ]
        assert any(adapter) == moves
        assert not bias
        assert not head


def test_estimator_without_returns_is_refused_where_a_value_head_is_trained():
    with pytest.raises(ValueError, match="gives no returns to train a value head on"):
        PPOSettings(advantage="per_round")
    own = SETTINGS.model_copy(update={"advantage": read_advantage("per_round")})
    with pytest.raises(BadParameter, match="no returns to train a value head on: take gae"):
        list(made(own).update(replace(played(2, 8), turns=[0, 1, 2, 3] * 2), Key(0)))


def test_coefficient_of_a_batch_is_the_one_of_its_rewards_and_not_the_next():
    settings = AdaptiveKLSettings(initial_kl_coef=0.7, target_kl=0.001, num_decisions=16)
    learner = made(SETTINGS.model_copy(update={"adaptive_kl": settings}))
    list(learner.update(played(2, 8), Key(0)))
    assert learner.last_metrics["kl_coef"] == 0.7 != learner.controller.coefficient


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_ratios_to_a_samplers_probabilities_begin_at_their_importance_weights(dtype):
    learner, batch = made(dtype=dtype), played(2, 4)
    drawn = [tuple(-0.5 for _ in one.loss_positions) for one in batch.examples]
    explored = [one.with_columns(**{OLD_LOGPROBS: own}) for one, own in zip(batch.examples, drawn, strict=True)]
    weights = (learner.learner.outputs(batch.examples).logprobs + 0.5).exp()
    first, *_ = learner.update(PPOBatch(explored, batch.episodes, batch.scores), Key(0))
    low, high = (first.metrics[f"policy/ratio_{end}"] for end in ("min", "max"))
    assert weights.min() - 1e-3 <= low <= high <= weights.max() + 1e-3
    assert not 0.99 < high < 1.01
