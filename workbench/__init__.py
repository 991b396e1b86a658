"""The workbench of auditors and support: every exchange, errors in groups, an order's full history, people's acts."""
