"""The rulebook as compiled kernels, by chapter."""
