"""The compiled loops. Private: no policy, no checks, no messages."""
