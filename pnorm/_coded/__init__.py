"""Rows that are read once and stored as the codes of their weak rankers."""
