"""Benchmarks: errorsink beside its peers, in one run, as ratios first. `python -m benchmarks` runs them all."""
