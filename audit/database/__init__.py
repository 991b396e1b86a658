"""Django's backend for PostgreSQL; each writing statement says for whom it writes."""
