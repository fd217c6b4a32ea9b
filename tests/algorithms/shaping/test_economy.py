"""A naive learner sees five prompts in all: what is asked of its model is computed once, in play and in training."""

from stratagem.algorithms.shaping.recipe import ShapingRecipe
from stratagem.algorithms.shaping.seats import Seating
from stratagem.algorithms.shaping.trainer import ShapingTrainer
from stratagem.algorithms.shaping.trial import Trials
from stratagem.runs.folder import RunFolder


def test_ten_times_fewer_tokens_are_computed_than_asked_for(tmp_path):
    """One episode of five environments and twenty rounds: drawn, fixed twice, learnt from in ten steps."""
    recipe = ShapingRecipe.read(
        {
            "game": "ipd-shapellm(labels=(C, D))",
            "seats": {"naive": {"learner": "naive"}, "other": {"learner": "tabular"}},
        }
    )
    trainer = ShapingTrainer(recipe, RunFolder(tmp_path / "run"))
    (base,) = trainer._bases.values()
    seats = Seating(recipe, trainer.game, {"tiny": base}).seats()
    read = []
    base.lm.model.get_input_embeddings().register_forward_hook(lambda _, ids, __: read.append(ids[0].numel()))
    trial = Trials(trainer.game, seats, environments=5, episodes=1, key=trainer.key).run(0)
    calls = [row.calls[-1] for episode in trial.episodes for row in episode.decisions if row.slot == 0]
    assert len(calls) == 100
    asked = 4 * sum(call.num_prompt for call in calls)  # played, under policy and reference, and in the steps
    assert len({call.prompt.tokens for call in calls}) <= 5
    assert asked >= 10 * sum(read), f"{asked} tokens were asked for and {sum(read)} computed"
