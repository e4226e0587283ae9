"""Whether a change was right, as the reader and the referee say. Gold is never used."""
