"""Why rows have their scores: contributions, shapes and scorecards, for people."""
