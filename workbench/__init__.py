"""The workbench of auditors and support: every exchange, errors in groups, one order's whole story, what people did."""
