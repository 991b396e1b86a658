"""Made-up history of a shop, for measuring with many rows: `manage.py seed_history`. Only with the sandbox.

The rows go into the tables by COPY, past the services that write them in a shop. They are such as those would have
written: `reconcile` finds the books proved and balanced.
"""
