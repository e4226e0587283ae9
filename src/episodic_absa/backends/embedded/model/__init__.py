"""The trained half of the engine: weights, features, and the reader that uses them."""
