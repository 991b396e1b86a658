"""What `./run` is made of: one command that installs, starts, watches, tests and checks the backoffice.

Standard library only (psycopg and redis are imported late, where a service must be asked whether it is up), because
`./run` imports this package before anything is installed. Django never runs in the launcher: it starts `manage.py`.

`commands` reads the command line. `project` knows the folders and the environment, `installing` fetches what the
locks name, `processes` starts children that never outlive the launcher, `embedded` is PostgreSQL and Valkey,
`serving` is `./run up`, `calling` is `./run manage`, `status` reads what a running launcher wrote, `gate` tests and
checks.
"""
