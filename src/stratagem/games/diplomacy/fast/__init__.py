"""Fast board of Diplomacy: the rules on arrays, compiled by numba, with the results of the engine.

It needs the extra `fast`. Without it the kernels are plain Python, which tests use and play does not.
"""
