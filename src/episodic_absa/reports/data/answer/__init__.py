"""The answer of a run on its first screen: arms, verdicts, the question, strata, principles."""
