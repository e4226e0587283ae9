"""The answer of a run as values and words: arms, verdicts, the question, strata, principles."""
