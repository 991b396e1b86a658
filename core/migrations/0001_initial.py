"""`transaction_number()`: 64 bits, higher for a transaction that began to write later.

A dump that is restored into a new PostgreSQL keeps the rows and not the counter: `./run manage restart_audit` then
replaces the function by one that adds what is missing.
"""

from django.db import migrations


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.RunSQL(
            "CREATE FUNCTION transaction_number() RETURNS bigint LANGUAGE sql VOLATILE"
            " AS 'SELECT pg_current_xact_id()::text::bigint'",
            "DROP FUNCTION transaction_number()",
        ),
    ]
