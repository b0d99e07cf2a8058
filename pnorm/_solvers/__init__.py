"""The checked problem, and what minimises its objective."""
