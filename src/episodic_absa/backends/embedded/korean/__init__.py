"""Reads Korean by rules, on the morphemes of its analyser."""
