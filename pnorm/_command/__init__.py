"""The command `pnorm`."""
