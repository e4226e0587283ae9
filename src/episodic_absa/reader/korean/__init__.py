"""Reads Korean by rules, taggers and linear weights over morphemes."""
