"""ShapeLLM's printed figures stand beside pairs like its own, and beside no other."""

from importlib import import_module

printed = import_module("shapellm_printed").printed


def test_the_papers_figures_stand_by_pairs_like_its_own():
    """ShapeLLM, Tables 1, 2, 3, 10 and 16."""
    shaper, naive = {"learner": "shaper", "memory": "trial"}, {"learner": "naive", "memory": "last"}
    assert printed("ipd-shapellm", {"a": shaper, "b": naive}).first == (3.96, 0.01)
    assert printed("ish", {"a": naive, "b": naive}).second == (1.30, 0.52)
    assert printed("icg", {"a": {**naive, "memory": "episode"}, "b": naive}).first == (2.60, 0.76)
    assert printed("icg(labels=(T, F))", {"a": shaper, "b": naive}).first == (2.95, 0.01)
    other = "icg(labels=(S, G), labels_second=(N, M))"
    assert printed(other, {"a": {**naive, "memory": "episode"}, "b": naive}).first == (1.00, 0.00)
    assert printed("ipd-shapellm(labels=(C, D))", {"a": {**shaper, "memory": "last"}, "b": naive}).first == (0.99, 0.00)


def test_no_other_pair_has_figures_beside_it():
    shaper, naive = {"learner": "shaper", "memory": "trial"}, {"learner": "naive", "memory": "last"}
    assert printed("ipd-shapellm", {"a": {**shaper, "reward": "sum"}, "b": naive}) is None
    assert printed("ipd-shapellm", {"a": shaper, "b": {**naive, "model": "tiny-qwen"}}) is None
    assert printed("icg", {"a": {**shaper, "style": "shapellm-occurrence(switched=True)"}, "b": naive}) is None
    assert printed("icg", {"a": naive, "b": shaper}) is None
    assert printed("kuhn", {"a": shaper, "b": naive}) is None
