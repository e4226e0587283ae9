"""The databases that can hold a store, behind one protocol."""
