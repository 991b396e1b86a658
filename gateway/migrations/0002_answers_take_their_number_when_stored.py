from django.db import migrations, models

NEXT_NUMBER = models.Func(
    models.Func(models.Value("gateway_exchange"), models.Value("id"), function="pg_get_serial_sequence"),
    function="nextval",
    output_field=models.BigIntegerField(),
)


class Migration(migrations.Migration):
    dependencies = [("gateway", "0001_initial")]

    operations = [
        migrations.AlterField(
            model_name="exchange",
            name="answered_no",
            field=models.BigIntegerField(
                db_default=NEXT_NUMBER,
                help_text="Taken when it is stored. Empty: no answer that we could use.",
                null=True,
            ),
        ),
    ]
