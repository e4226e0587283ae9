"""Random moments that one seed repeats: `make torture` takes it from --seed, and each row draws from its own stream."""

import os
import random

SEED_VARIABLE = "EPISODIC_ABSA_TORTURE_SEED"
DEFAULT_SEED = 16


def seed() -> int:
    """Return the seed of this torture."""
    return int(os.environ.get(SEED_VARIABLE, DEFAULT_SEED))


def chance_for(name: str) -> random.Random:
    """Return the random numbers of one row; another row's number of draws does not change them."""
    return random.Random(f"{seed()} {name}")


def scaled(trials: int, scale: float, at_least: int = 2) -> int:
    """Return how many of so many trials to do."""
    return max(at_least, round(trials * scale))
