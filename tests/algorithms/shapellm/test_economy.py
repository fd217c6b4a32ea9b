"""A naive learner sees five prompts in all: what is asked of its model is computed once, in play and in training."""

from stages import run_trial
from stratagem.algorithms.shapellm.algorithm import bases_of
from stratagem.algorithms.shapellm.language_seat import _legal
from stratagem.algorithms.shapellm.recipe import ShapingRecipe
from stratagem.algorithms.shapellm.seat import Play, lessons
from stratagem.algorithms.shapellm.seats import Seating
from stratagem.algorithms.shapellm.trials import Trials
from stratagem.games.catalogue import make_game
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
    game, (base,) = make_game(recipe.game), bases_of(recipe, RunFolder(tmp_path / "run")).values()
    seats = Seating(recipe, game, {"tiny": base}).seats()
    read = []
    base.lm.model.get_input_embeddings().register_forward_hook(lambda _, ids, __: read.append(ids[0].numel()))
    trials = Trials(game, seats, environments=5, episodes=1, key=Key(recipe.seed).at("shaping"))
    trial = run_trial(trials, 0)
    calls = [row.calls[-1] for episode in trial.episodes for row in episode.decisions if row.slot == 0]
    assert len(calls) == 100
    asked = 4 * sum(call.num_prompt for call in calls)  # played, under policy and reference, and in the steps
    assert len({call.prompt.tokens for call in calls}) <= 5
    assert asked >= 10 * sum(read), f"{asked} tokens were asked for and {sum(read)} computed"


def test_the_bonus_is_for_the_entropy_of_the_legal_labels(tmp_path):
    """ShapeLLM, A.5: renormalised over the two labels, while the policy is over the whole vocabulary."""
    entropy = {"start": 0.1, "steps": 2}
    seats = {"naive": {"learner": "naive", "ppo": {"entropy_coef": entropy}}, "other": {"learner": "tabular"}}
    recipe = ShapingRecipe.read({"game": "ipd-shapellm(labels=(C, D), rounds=2)", "seats": seats})
    game, bases = make_game(recipe.game), bases_of(recipe, RunFolder(tmp_path / "run"))
    seat = Seating(recipe, game, bases).seats()["naive"]
    match = Match(game, [seat.player, make_player("random", game)])
    episodes = played(Setup(id=str(n), match=match, slots=(0, 1), key=Key(n)) for n in range(3))
    found = lessons([episodes], 0)
    assert found
    vocabulary = seat.policy.engine.vocabulary
    for tokens in _legal(seat.policy.player.speaker, found):
        assert sorted(vocabulary.decode([token]).strip() for token in tokens) == ["C", "D"]
    seat.update(Play([episodes], 0, Key(0)))
    assert seat.proximal.num_updates == 1
    assert seat.policy.learner.loss.entropy_coef == 0.1
