"""The asv suite: how time and memory grow with rows, weak rankers and p."""
