"""Django's backend for PostgreSQL, with each writing statement saying for whom it writes."""
