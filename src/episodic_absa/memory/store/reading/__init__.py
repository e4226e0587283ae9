"""Reads a store file: single lines of an open one, the newest episodes, everything for its maintenance."""
