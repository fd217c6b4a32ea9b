"""A naive learner sees five prompts in all: what is asked of its model is computed once, in play and in training."""

from stages import run_trial
from stratagem.algorithms.shapellm.algorithm import Trials, bases_of
from stratagem.algorithms.shapellm.language_seat import legal_tokens
from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.algorithms.shapellm.seat import UpdateData, transitions_of
from stratagem.algorithms.shapellm.seats import SeatFactory
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups
from stratagem.training.learner_models import LearnerBase
from stratagem.training.runs.folder import RunFolder


def test_shared_prefixes_are_computed_once(tmp_path):
    """One episode of five environments and twenty rounds: drawn, fixed twice, learnt from in ten steps."""
    recipe = ShapeLLMRecipe.read(
        {
            "game": "ipd-shapellm(labels=(C, D))",
            "seats": {"naive": {"learner": "naive"}, "other": {"learner": "tabular"}},
        }
    )
    game, (base,) = make_game(recipe.game), bases_of(recipe, RunFolder(tmp_path / "run")).values()
    seats = SeatFactory(recipe, game, {LearnerBase("tiny"): base}).seats()
    read = []
    base.lm.model.get_input_embeddings().register_forward_hook(lambda _, ids, __: read.append(ids[0].numel()))
    trials = Trials(game, seats, environments=5, episodes=1, key=Key(recipe.seed).at("shaping"))
    trial = run_trial(trials, 0)
    calls = [row.calls[-1] for episode in trial.episodes for row in episode.decisions if row.slot == 0]
    assert len(calls) == 100
    asked = 4 * sum(call.num_prompt for call in calls)  # played, under policy and reference, and in the steps
    assert len({call.prompt.tokens for call in calls}) <= 5
    assert asked >= 10 * sum(read), f"{asked} tokens were asked for and {sum(read)} computed"


def test_entropy_bonus_is_over_the_legal_labels(tmp_path):
    """ShapeLLM, A.5: renormalised over the two labels, while the policy is over the whole vocabulary."""
    entropy = {"start": 0.1, "steps": 2}
    seats = {"naive": {"learner": "naive", "ppo": {"entropy_coef": entropy}}, "other": {"learner": "tabular"}}
    recipe = ShapeLLMRecipe.read({"game": "ipd-shapellm(labels=(C, D), rounds=2)", "seats": seats})
    game, bases = make_game(recipe.game), bases_of(recipe, RunFolder(tmp_path / "run"))
    seat = SeatFactory(recipe, game, bases).seats()["naive"]
    match = Match(game, [seat.player, make_player("random", game)])
    episodes = play_setups(Setup(id=str(n), match=match, slots=(0, 1), key=Key(n)) for n in range(3))
    found = transitions_of([episodes], 0)
    assert found
    vocabulary = seat.policy.engine.vocabulary
    for tokens in legal_tokens(seat.policy.player.speaker, found):
        assert sorted(vocabulary.decode([token]).strip() for token in tokens) == ["C", "D"]
    seat.update(UpdateData([episodes], 0, Key(0)))
    assert seat.proximal.num_updates == 1
    assert seat.policy.learner.loss.entropy_coef == 0.1
