"""A naive learner sees five prompts in all: what is asked of its model is computed once, in play and in training."""

from stratagem.algorithms.shaping.language_seat import _legal
from stratagem.algorithms.shaping.recipe import ShapingRecipe
from stratagem.algorithms.shaping.seat import lessons
from stratagem.algorithms.shaping.seats import Seating
from stratagem.algorithms.shaping.trainer import ShapingTrainer
from stratagem.algorithms.shaping.trial import Trials
from stratagem.games.key import Key
from stratagem.play.match import Match, Setup
from stratagem.play.scheduler import played
from stratagem.players.catalogue import make_player
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


def test_the_bonus_is_for_the_entropy_of_the_legal_labels(tmp_path):
    """ShapeLLM, A.5: renormalised over the two labels, while the policy is over the whole vocabulary."""
    entropy = {"start": 0.1, "steps": 2}
    seats = {"naive": {"learner": "naive", "ppo": {"entropy": entropy}}, "other": {"learner": "tabular"}}
    recipe = ShapingRecipe.read({"game": "ipd-shapellm(labels=(C, D), rounds=2)", "seats": seats})
    trainer = ShapingTrainer(recipe, RunFolder(tmp_path / "run"))
    seat = Seating(recipe, trainer.game, trainer._bases).seats()["naive"]
    match = Match(trainer.game, [seat.player, make_player("random", trainer.game)])
    episodes = played(Setup(id=str(n), match=match, slots=(0, 1), key=Key(n)) for n in range(3))
    found = lessons([episodes], 0)
    assert found
    vocabulary = seat.base.engine.vocabulary
    for tokens in _legal(seat.speaker, found):
        assert sorted(vocabulary.decode([token]).strip() for token in tokens) == ["C", "D"]
    seat.learn([episodes], 0, Key(0))
    assert seat.proximal.learnt == 1
    assert seat.learner.loss.entropy_coef == 0.1
