import django.db.models.deletion
import django.db.models.expressions
import pgtrigger.compiler
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("catalogue", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SummedDay",
            fields=[
                ("day", models.DateField(primary_key=True, serialize=False)),
                ("summed_at", models.DateTimeField()),
                ("off_by", models.BigIntegerField(default=0)),
            ],
            options={
                "default_permissions": (),
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="8a27fdb205bbeaa239da3ec4b418b82e58045779",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_10737",
                            table="earnings_summedday",
                            when="BEFORE",
                        ),
                    ),
                ],
                "indexes": [models.Index(condition=models.Q(("off_by__gt", 0)), fields=["day"], name="summed_day_off")],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("off_by__gte", 0)), name="summed_day_off_by_a_size")
                ],
            },
        ),
        migrations.CreateModel(
            name="DaySum",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("by", models.CharField(max_length=7)),
                ("method", models.CharField(blank=True, max_length=20)),
                ("placed", models.IntegerField()),
                ("sold", models.IntegerField()),
                ("failed", models.IntegerField()),
                ("reversed", models.IntegerField()),
                ("sales", models.BigIntegerField()),
                ("cost", models.BigIntegerField()),
                ("seconds", models.BigIntegerField()),
                (
                    "product",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="catalogue.product",
                    ),
                ),
                (
                    "seller",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "day",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sums",
                        to="earnings.summedday",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="be3ba1dd3abcaee3b8f2425aec09212005f45780",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_8821d",
                            table="earnings_daysum",
                            when="BEFORE",
                        ),
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("by", "day", "product", "seller", "method"), name="day_sum_once", nulls_distinct=False
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("by", "product"), ("method", ""), ("product__isnull", False), ("seller__isnull", True)
                            ),
                            models.Q(("by", "person"), ("method", ""), ("product__isnull", True)),
                            models.Q(
                                ("by", "method"),
                                ("product__isnull", True),
                                ("seller__isnull", True),
                                models.Q(("method", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="day_sum_by_one_key",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("failed__gte", 0),
                            ("reversed__gte", 0),
                            ("sold__gte", 0),
                            (
                                "placed__gte",
                                django.db.models.expressions.CombinedExpression(
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("sold"), "+", models.F("failed")
                                    ),
                                    "+",
                                    models.F("reversed"),
                                ),
                            ),
                        ),
                        name="day_sum_of_its_orders",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cost__gte", 0),
                            ("sales__gte", 0),
                            ("seconds__gte", 0),
                            models.Q(
                                ("sold__gt", 0), models.Q(("cost", 0), ("sales", 0), ("seconds", 0)), _connector="OR"
                            ),
                        ),
                        name="day_sum_of_what_arrived",
                    ),
                ],
            },
        ),
    ]
