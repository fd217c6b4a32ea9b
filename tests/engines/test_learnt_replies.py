"""Loss masks of replies: nothing is trained on where a token was drawn from a part of the policy."""

from dataclasses import replace

import pytest
from numbered import asked

from stratagem.engines.base import Sampling
from stratagem.engines.open import served
from stratagem.errors import BadParameter
from stratagem.learning.example import example_from_call


@pytest.mark.parametrize("sampling", [Sampling(top_k=2), Sampling(top_p=0.9)])
def test_replies_from_a_part_of_the_policy_are_refused(sampling):
    engine = served("tiny").engine
    call = engine.answer([asked(engine, 1)])[0]
    assert example_from_call(replace(call, sampling=Sampling(temperature=0.7))).temperature == 0.7
    with pytest.raises(BadParameter, match="drawn with top_k or top_p"):
        example_from_call(replace(call, sampling=sampling))
