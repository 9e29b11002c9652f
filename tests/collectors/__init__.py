"""Real collectors for tests, servers that misbehave, and what arrived at them as plain Python values."""
