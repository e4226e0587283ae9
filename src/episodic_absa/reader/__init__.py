"""The reader: one small neural model a language that finds judged terms and labels a text."""
