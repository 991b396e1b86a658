"""Compares the bank's rows with the payments that should have reached the bank by the shop's books."""
