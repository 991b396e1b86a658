"""How the shop wants to be run: limits, times and who must look twice. Addresses, secrets and sizes are settings."""
