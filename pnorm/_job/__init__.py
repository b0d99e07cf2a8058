"""The whole job: from a table with labels to a list that has been tested on rows held out."""
