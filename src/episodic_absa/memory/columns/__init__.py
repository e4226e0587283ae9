"""Numbers and terms of a store in compact columns: in memory, or mapped from the snapshot beside the store."""
