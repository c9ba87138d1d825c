"""The screens for people."""
