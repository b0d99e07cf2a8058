"""The report of a list: one page of HTML that needs nothing else."""
