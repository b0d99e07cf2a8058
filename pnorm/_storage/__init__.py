"""Outputs of the weak rankers on rows of one side, stored densely, sparsely, or as codes."""
