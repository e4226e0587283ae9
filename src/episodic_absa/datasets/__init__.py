"""Reads datasets and gold files, and checks them."""
