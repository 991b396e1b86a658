"""The number of the database's transaction that wrote a row: it shows which rows are complete."""

from django.db import models
from django.db.models import Func

#: The default of a column. The function is made by this room's migration.
TRANSACTION_NUMBER = Func(function="transaction_number", output_field=models.BigIntegerField())
