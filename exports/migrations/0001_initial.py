import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [("staff", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Export",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="exports", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("list_name", models.CharField(max_length=40)),
                ("task", models.CharField(max_length=100)),
                ("permission", models.CharField(max_length=100)),
                ("query", models.TextField(blank=True)),
                ("file_format", models.CharField(max_length=4)),
                ("whole_numbers", models.BooleanField(db_default=False, default=False)),
                ("state", models.CharField(default="waiting", max_length=10)),
                ("rows_total", models.BigIntegerField(default=0)),
                ("rows_done", models.BigIntegerField(default=0)),
                ("size", models.BigIntegerField(default=0)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("next_try_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ("waiting", "writing"))),
                        fields=["next_try_at"],
                        name="export_open",
                    ),
                    models.Index(fields=["created_at"], name="export_created"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("rows_done__lte", models.F("rows_total"))), name="export_rows_done"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ExportPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "export",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="exports.export"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("content", models.BinaryField()),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("export", "number"), name="export_part_once")]},
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("list_name", models.CharField(max_length=40)),
                ("name", models.CharField(max_length=40)),
                ("query", models.TextField()),
                ("is_shared", models.BooleanField(default=False)),
            ],
            options={
                "ordering": ["name", "pk"],
                "constraints": [models.UniqueConstraint(fields=("owner", "list_name", "name"), name="saved_view_once")],
            },
        ),
    ]
