"""The rules by which the shop is run: limits, times and second persons. Addresses, secrets and sizes are settings."""
