"""Rows that are read once, and kept as the codes of their weak rankers."""
