import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.text
import django.utils.timezone
import pghistory.utils
import pgtrigger.compiler
from django.conf import settings
from django.db import migrations, models

import core.transactions


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("branches", "0001_initial"),
        ("approvals", "0001_initial"),
        ("catalogue", "0001_initial"),
        ("core", "0001_initial"),
        ("drawers", "0001_initial"),
        ("shop", "0001_initial"),
        ("staff", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Tag",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=20, unique=True)),
            ],
            options={"ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="Order",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                ("ref_id", models.CharField(max_length=64, unique=True)),
                ("kind", models.CharField(default="purchase", max_length=10)),
                ("idempotency_key", models.CharField(max_length=64, unique=True)),
                (
                    "product",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="orders", to="catalogue.product"
                    ),
                ),
                ("product_code", models.CharField(max_length=100)),
                ("product_name", models.CharField(max_length=1000)),
                ("destination", models.CharField(max_length=64)),
                ("max_price", models.BigIntegerField()),
                ("price", models.BigIntegerField(null=True)),
                ("selling_price", models.BigIntegerField(null=True)),
                ("fee", models.BigIntegerField(null=True)),
                (
                    "payment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="order", to="drawers.payment"
                    ),
                ),
                ("status", models.CharField(default="queued", max_length=12)),
                ("action_reason", models.CharField(blank=True, max_length=20)),
                ("error_code", models.CharField(blank=True, max_length=40)),
                ("message", models.CharField(blank=True, max_length=1000)),
                ("trx_id", models.CharField(blank=True, max_length=100)),
                ("sn", models.CharField(blank=True, max_length=4000)),
                ("sn_by_hand", models.BooleanField(default=False)),
                (
                    "placed_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("tags", models.ManyToManyField(related_name="orders", to="purchases.tag")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("waits_for_topup", models.BooleanField(default=False)),
                ("sent_at", models.DateTimeField(null=True)),
                ("final_at", models.DateTimeField(null=True)),
                ("attempt", models.IntegerField(default=0)),
                ("sent_no", models.BigIntegerField(null=True)),
                ("accepted_no", models.BigIntegerField(null=True)),
                ("pending_no", models.BigIntegerField(null=True)),
                ("ended_no", models.BigIntegerField(null=True)),
                ("polls", models.IntegerField(default=0)),
                ("not_found_count", models.IntegerField(default=0)),
                ("not_found_since", models.DateTimeField(null=True)),
                ("next_poll_at", models.DateTimeField(null=True)),
            ],
            options={
                "permissions": [
                    ("sell_below_cost", "Can sell below cost"),
                    ("buy", "Can buy"),
                    ("view_number", "Can view number"),
                    ("reveal_number", "Can reveal number"),
                    ("view_order", "Can view order"),
                    ("resolve_order", "Can resolve order"),
                    ("propose_verdict", "Can propose verdict"),
                    ("decide_order", "Can decide order"),
                    ("note_order", "Can note order"),
                ],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["-created_at", "-id"], name="order_newest"),
                    models.Index(
                        condition=models.Q(("next_poll_at__isnull", False)), fields=["next_poll_at"], name="order_due"
                    ),
                    models.Index(fields=["status", "-created_at"], name="order_by_status"),
                    models.Index(fields=["product_code", "-created_at", "-id"], name="order_by_product"),
                    models.Index(fields=["product", "-created_at", "-id"], name="order_by_product_id"),
                    models.Index(fields=["placed_by", "created_at"], name="order_by_person"),
                    models.Index(
                        condition=models.Q(("status__in", ["needs_action", "pending", "queued", "sending", "unknown"])),
                        fields=["created_at", "id"],
                        name="order_open",
                    ),
                    models.Index(
                        condition=models.Q(("accepted_no", None), ("final_at", None), ("sent_no__isnull", False)),
                        fields=["sent_at"],
                        name="order_in_doubt",
                    ),
                    models.Index(condition=models.Q(("status", "reversed")), fields=["id"], name="order_reversed"),
                    models.Index(
                        condition=models.Q(("status__in", ["cancelled", "closed", "failed", "rejected", "reversed"])),
                        fields=["final_at"],
                        name="order_unfulfilled",
                    ),
                    models.Index(
                        fields=["destination", "-created_at"],
                        name="order_by_number",
                        opclasses=["varchar_pattern_ops", "timestamptz_ops"],
                    ),
                    models.Index(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.text.Reverse("destination"), "text_pattern_ops"
                        ),
                        models.OrderBy(models.F("created_at"), descending=True),
                        models.OrderBy(models.F("id"), descending=True),
                        include=["destination"],
                        name="order_by_end_of_number",
                    ),
                    models.Index(django.db.models.functions.text.Upper("trx_id"), name="order_by_trx_id"),
                    models.Index(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.text.Upper(django.db.models.functions.text.Left("sn", 40)),
                            "text_pattern_ops",
                        ),
                        name="order_by_sn",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("max_price__gt", 0)), name="order_max_price_positive"),
                    models.CheckConstraint(
                        condition=models.Q(("price__isnull", True), ("price__gte", 0), _connector="OR"),
                        name="order_price_not_negative",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("selling_price__isnull", True), ("selling_price__gt", 0), _connector="OR"),
                        name="order_selling_price_positive",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("fee__isnull", True),
                            models.Q(("fee__gte", 0), ("kind", "bill"), ("selling_price__isnull", False)),
                            _connector="OR",
                        ),
                        name="order_fee_of_a_bill",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "bill"), _negated=True),
                            ("selling_price__isnull", True),
                            models.Q(
                                ("fee__isnull", False),
                                (
                                    "selling_price",
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("max_price"), "+", models.F("fee")
                                    ),
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="order_bill_sells_for_total_and_fee",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                [
                                    "cancelled",
                                    "closed",
                                    "failed",
                                    "needs_action",
                                    "pending",
                                    "queued",
                                    "rejected",
                                    "reversed",
                                    "sending",
                                    "success",
                                    "unknown",
                                ],
                            )
                        ),
                        name="order_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("ended_no__isnull", False),
                                ("final_at__isnull", False),
                                ("status__in", ["cancelled", "closed", "failed", "rejected", "reversed", "success"]),
                            ),
                            models.Q(
                                models.Q(
                                    (
                                        "status__in",
                                        ["cancelled", "closed", "failed", "rejected", "reversed", "success"],
                                    ),
                                    _negated=True,
                                ),
                                ("ended_no__isnull", True),
                                ("final_at__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="order_final_at_iff_final",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status__in", ["sending", "unknown"]), _negated=True),
                            ("sent_no__isnull", False),
                            _connector="OR",
                        ),
                        name="order_in_doubt_has_its_number",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("action_reason__gt", ""), ("status", "needs_action")),
                            models.Q(models.Q(("status", "needs_action"), _negated=True), ("action_reason", "")),
                            _connector="OR",
                        ),
                        name="order_action_reason_iff_needed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                models.Q(
                                    ("status__in", ["pending", "queued", "sending", "unknown"]),
                                    models.Q(("action_reason", "never_arrived"), ("status", "needs_action")),
                                    _connector="OR",
                                ),
                                ("next_poll_at__isnull", False),
                            ),
                            models.Q(
                                models.Q(
                                    ("status__in", ["pending", "queued", "sending", "unknown"]),
                                    models.Q(("action_reason", "never_arrived"), ("status", "needs_action")),
                                    _connector="OR",
                                    _negated=True,
                                ),
                                ("next_poll_at__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="order_never_forgotten",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("status__in", ["needs_action", "pending", "queued", "sending", "unknown"])),
                        fields=("product_code", "destination"),
                        name="order_open_once_per_destination",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="moves_as_in_its_life",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            declare="DECLARE _is_valid_transition BOOLEAN;",
                            func='SELECT CONCAT(OLD."status", \':\', NEW."status") = ANY(\'{needs_action:cancelled,needs_action:closed,needs_action:failed,needs_action:pending,needs_action:queued,needs_action:reversed,needs_action:success,pending:failed,pending:reversed,pending:success,queued:cancelled,queued:failed,queued:pending,queued:sending,queued:success,sending:failed,sending:needs_action,sending:pending,sending:queued,sending:rejected,sending:success,sending:unknown,success:reversed,unknown:failed,unknown:needs_action,unknown:pending,unknown:queued,unknown:rejected,unknown:reversed,unknown:success}\'::text[]) INTO _is_valid_transition; IF (_is_valid_transition IS FALSE AND OLD."status" IS DISTINCT FROM NEW."status") THEN RAISE EXCEPTION \'pgtrigger: Invalid transition of field "status" from "%" to "%" on table %\', OLD."status", NEW."status", TG_TABLE_NAME; ELSE RETURN NEW; END IF;',
                            hash="68535247aca993e451291c41b72eddd41279c2a4",
                            operation="UPDATE",
                            pgid="pgtrigger_moves_as_in_its_life_16dbb",
                            table="purchases_order",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="identity_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."ref_id" IS DISTINCT FROM (NEW."ref_id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."idempotency_key" IS DISTINCT FROM (NEW."idempotency_key") OR OLD."product_code" IS DISTINCT FROM (NEW."product_code") OR OLD."destination" IS DISTINCT FROM (NEW."destination") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."payment_id" IS DISTINCT FROM (NEW."payment_id"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="b4d841ef2f16629e7e0fa4fb4b6e10e3e46f6084",
                            operation="UPDATE",
                            pgid="pgtrigger_identity_never_changes_bacd3",
                            table="purchases_order",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="1a07893579ad5a0be92cb9853cd4dc56154d0b78",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_ed145",
                            table="purchases_order",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="d998d91cdac49325507f8ecaf2410104333f1a28",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_3086d",
                            table="purchases_order",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="ended_for_good",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."status" IN (\'cancelled\', \'closed\', \'failed\', \'rejected\', \'reversed\', \'success\') AND ((OLD."price" IS DISTINCT FROM (NEW."price") AND OLD."price" IS NOT NULL) OR OLD."max_price" IS DISTINCT FROM (NEW."max_price") OR OLD."placed_by_id" IS DISTINCT FROM (NEW."placed_by_id") OR (OLD."trx_id" IS DISTINCT FROM (NEW."trx_id") AND OLD."trx_id" > \'\') OR (OLD."sn" IS DISTINCT FROM (NEW."sn") AND OLD."sn" > \'\' AND NOT OLD."sn_by_hand")))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="511f3bdfd438e547f3d13889fe43acfbbdacea8f",
                            operation="UPDATE",
                            pgid="pgtrigger_ended_for_good_3aaa5",
                            table="purchases_order",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="sold_for_one_price",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.fee IS DISTINCT FROM NEW.fee OR (OLD.selling_price IS DISTINCT FROM NEW.selling_price AND NOT COALESCE((OLD.kind = 'bill' OR OLD.selling_price = OLD.max_price) AND NEW.selling_price - NEW.max_price = OLD.selling_price - OLD.max_price, FALSE)))",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="f60c680d06b4394e947fbb82f92da706b78bc867",
                            operation="UPDATE",
                            pgid="pgtrigger_sold_for_one_price_01c56",
                            table="purchases_order",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "purchases_orderhistory" ("accepted_no", "action_reason", "attempt", "created_at", "destination", "ended_no", "error_code", "fee", "final_at", "id", "idempotency_key", "kind", "max_price", "message", "payment_id", "pending_no", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "placed_by_id", "price", "product_code", "product_id", "product_name", "ref_id", "selling_price", "sent_at", "sent_no", "sn", "sn_by_hand", "status", "trx_id", "waits_for_topup") VALUES (NEW."accepted_no", NEW."action_reason", NEW."attempt", NEW."created_at", NEW."destination", NEW."ended_no", NEW."error_code", NEW."fee", NEW."final_at", NEW."id", NEW."idempotency_key", NEW."kind", NEW."max_price", NEW."message", NEW."payment_id", NEW."pending_no", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."placed_by_id", NEW."price", NEW."product_code", NEW."product_id", NEW."product_name", NEW."ref_id", NEW."selling_price", NEW."sent_at", NEW."sent_no", NEW."sn", NEW."sn_by_hand", NEW."status", NEW."trx_id", NEW."waits_for_topup"); RETURN NULL;',
                            hash="ec7ad1bc364c14d84ed054a0c5fb22ba0d86bbb9",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_b2cd5",
                            table="purchases_order",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."accepted_no" IS DISTINCT FROM (NEW."accepted_no") OR OLD."action_reason" IS DISTINCT FROM (NEW."action_reason") OR OLD."attempt" IS DISTINCT FROM (NEW."attempt") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."destination" IS DISTINCT FROM (NEW."destination") OR OLD."ended_no" IS DISTINCT FROM (NEW."ended_no") OR OLD."error_code" IS DISTINCT FROM (NEW."error_code") OR OLD."fee" IS DISTINCT FROM (NEW."fee") OR OLD."final_at" IS DISTINCT FROM (NEW."final_at") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."idempotency_key" IS DISTINCT FROM (NEW."idempotency_key") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."max_price" IS DISTINCT FROM (NEW."max_price") OR OLD."message" IS DISTINCT FROM (NEW."message") OR OLD."payment_id" IS DISTINCT FROM (NEW."payment_id") OR OLD."pending_no" IS DISTINCT FROM (NEW."pending_no") OR OLD."placed_by_id" IS DISTINCT FROM (NEW."placed_by_id") OR OLD."price" IS DISTINCT FROM (NEW."price") OR OLD."product_id" IS DISTINCT FROM (NEW."product_id") OR OLD."product_code" IS DISTINCT FROM (NEW."product_code") OR OLD."product_name" IS DISTINCT FROM (NEW."product_name") OR OLD."ref_id" IS DISTINCT FROM (NEW."ref_id") OR OLD."selling_price" IS DISTINCT FROM (NEW."selling_price") OR OLD."sent_at" IS DISTINCT FROM (NEW."sent_at") OR OLD."sent_no" IS DISTINCT FROM (NEW."sent_no") OR OLD."sn" IS DISTINCT FROM (NEW."sn") OR OLD."sn_by_hand" IS DISTINCT FROM (NEW."sn_by_hand") OR OLD."status" IS DISTINCT FROM (NEW."status") OR OLD."trx_id" IS DISTINCT FROM (NEW."trx_id") OR OLD."waits_for_topup" IS DISTINCT FROM (NEW."waits_for_topup"))',
                            func='INSERT INTO "purchases_orderhistory" ("accepted_no", "action_reason", "attempt", "created_at", "destination", "ended_no", "error_code", "fee", "final_at", "id", "idempotency_key", "kind", "max_price", "message", "payment_id", "pending_no", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "placed_by_id", "price", "product_code", "product_id", "product_name", "ref_id", "selling_price", "sent_at", "sent_no", "sn", "sn_by_hand", "status", "trx_id", "waits_for_topup") VALUES (NEW."accepted_no", NEW."action_reason", NEW."attempt", NEW."created_at", NEW."destination", NEW."ended_no", NEW."error_code", NEW."fee", NEW."final_at", NEW."id", NEW."idempotency_key", NEW."kind", NEW."max_price", NEW."message", NEW."payment_id", NEW."pending_no", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."placed_by_id", NEW."price", NEW."product_code", NEW."product_id", NEW."product_name", NEW."ref_id", NEW."selling_price", NEW."sent_at", NEW."sent_no", NEW."sn", NEW."sn_by_hand", NEW."status", NEW."trx_id", NEW."waits_for_topup"); RETURN NULL;',
                            hash="3bf64cc0484cc7af59465d6d318dd2e725da589e",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_c58fa",
                            table="purchases_order",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "purchases_orderhistory" ("accepted_no", "action_reason", "attempt", "created_at", "destination", "ended_no", "error_code", "fee", "final_at", "id", "idempotency_key", "kind", "max_price", "message", "payment_id", "pending_no", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "placed_by_id", "price", "product_code", "product_id", "product_name", "ref_id", "selling_price", "sent_at", "sent_no", "sn", "sn_by_hand", "status", "trx_id", "waits_for_topup") VALUES (OLD."accepted_no", OLD."action_reason", OLD."attempt", OLD."created_at", OLD."destination", OLD."ended_no", OLD."error_code", OLD."fee", OLD."final_at", OLD."id", OLD."idempotency_key", OLD."kind", OLD."max_price", OLD."message", OLD."payment_id", OLD."pending_no", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."placed_by_id", OLD."price", OLD."product_code", OLD."product_id", OLD."product_name", OLD."ref_id", OLD."selling_price", OLD."sent_at", OLD."sent_no", OLD."sn", OLD."sn_by_hand", OLD."status", OLD."trx_id", OLD."waits_for_topup"); RETURN NULL;',
                            hash="643918efff53c95a80cba4b4170be8b7133f5f4d",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_0ebf4",
                            table="purchases_order",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OrderNote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "order",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="notes", to="purchases.order"
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("text", models.CharField(max_length=500)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
            ],
            options={
                "ordering": ["pk"],
                "indexes": [
                    models.Index(fields=["txid", "id"], name="order_note_to_seal"),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.search.SearchVector("text", config="simple"), name="order_note_by_words"
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="14e9417032986708fcedf904d88c9dbcbc032383",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_dc9c8",
                            table="purchases_ordernote",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="a63a88f47543c7ad6d7ccf3597ee19742b0e2ffd",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_4e36b",
                            table="purchases_ordernote",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="own_transaction",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (NEW.txid <> transaction_number())",
                            func="NEW.txid = transaction_number(); RETURN NEW;",
                            hash="515719ee1cee54090f291e6f2cb4e0d261dff93d",
                            operation="INSERT",
                            pgid="pgtrigger_own_transaction_c5c03",
                            table="purchases_ordernote",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Incident",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "order",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="incidents", to="purchases.order"
                    ),
                ),
                ("kind", models.CharField(max_length=20)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("source", models.CharField(max_length=10)),
                ("detail", models.CharField(max_length=500)),
                ("raw", models.JSONField(null=True)),
                ("callback_id", models.BigIntegerField(null=True)),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "closed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("closing_note", models.CharField(blank=True, max_length=500)),
            ],
            options={
                "ordering": ["-at"],
                "indexes": [
                    models.Index(condition=models.Q(("closed_at__isnull", True)), fields=["-at"], name="incident_open")
                ],
                "constraints": [models.UniqueConstraint(fields=("order", "kind", "detail"), name="incident_once")],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="what_happened_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."order_id" IS DISTINCT FROM (NEW."order_id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."at" IS DISTINCT FROM (NEW."at") OR OLD."source" IS DISTINCT FROM (NEW."source") OR OLD."detail" IS DISTINCT FROM (NEW."detail") OR OLD."raw" IS DISTINCT FROM (NEW."raw") OR OLD."callback_id" IS DISTINCT FROM (NEW."callback_id"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="0f9687dc25b39c3629a97c5a534cbca36ec84c86",
                            operation="UPDATE",
                            pgid="pgtrigger_what_happened_never_changes_3d06c",
                            table="purchases_incident",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="closed_once",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."closed_at" IS NOT NULL)',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="7a54a0260ae0efd2865d90b37cbbaea1fa27d26a",
                            operation="UPDATE",
                            pgid="pgtrigger_closed_once_25b8b",
                            table="purchases_incident",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="da85667c4f68bf473eb188c1d04c3bb9a7710ea8",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_a304e",
                            table="purchases_incident",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="51376522d1e8700534e39cd0afff519aac8766a2",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_1ebcb",
                            table="purchases_incident",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "purchases_incidenthistory" ("at", "callback_id", "closed_at", "closed_by_id", "closing_note", "detail", "id", "kind", "order_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "raw", "source") VALUES (NEW."at", NEW."callback_id", NEW."closed_at", NEW."closed_by_id", NEW."closing_note", NEW."detail", NEW."id", NEW."kind", NEW."order_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."raw", NEW."source"); RETURN NULL;',
                            hash="c24175ff571bb59f283d1e7c11380115fcc37202",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_3d57d",
                            table="purchases_incident",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "purchases_incidenthistory" ("at", "callback_id", "closed_at", "closed_by_id", "closing_note", "detail", "id", "kind", "order_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "raw", "source") VALUES (NEW."at", NEW."callback_id", NEW."closed_at", NEW."closed_by_id", NEW."closing_note", NEW."detail", NEW."id", NEW."kind", NEW."order_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."raw", NEW."source"); RETURN NULL;',
                            hash="bc4d480a10113010d59643446aec1629028897ae",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_affab",
                            table="purchases_incident",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "purchases_incidenthistory" ("at", "callback_id", "closed_at", "closed_by_id", "closing_note", "detail", "id", "kind", "order_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "raw", "source") VALUES (OLD."at", OLD."callback_id", OLD."closed_at", OLD."closed_by_id", OLD."closing_note", OLD."detail", OLD."id", OLD."kind", OLD."order_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."raw", OLD."source"); RETURN NULL;',
                            hash="adcdacd5628c76d40c36e11ad7fd7cfd02bfa0a2",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_61cad",
                            table="purchases_incident",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="IncidentHistory",
            fields=[
                ("pgh_id", models.BigAutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField()),
                ("pgh_label", models.CharField(max_length=6)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="history",
                        to="purchases.incident",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "order",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="purchases.order",
                    ),
                ),
                ("kind", models.CharField(max_length=20)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("source", models.CharField(max_length=10)),
                ("detail", models.CharField(max_length=500)),
                ("raw", models.JSONField(null=True)),
                ("callback_id", models.BigIntegerField(null=True)),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "closed_by",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("closing_note", models.CharField(blank=True, max_length=500)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="incident_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="incident_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="989ef48521a548d86451b31417140223fb599e75",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_1e761",
                            table="purchases_incidenthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="f8318ea071df9bf7c9879f964ea7df6db03c4cd3",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_9f2af",
                            table="purchases_incidenthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="78edb145fd454bb7dab2a9895a67d60de00e6c30",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_f252f",
                            table="purchases_incidenthistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OrderEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "order",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="events", to="purchases.order"
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("from_status", models.CharField(blank=True, max_length=12)),
                ("to_status", models.CharField(max_length=12)),
                ("source", models.CharField(max_length=10)),
                (
                    "actor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=500)),
                ("facts", models.JSONField(default=dict)),
                ("raw", models.JSONField(null=True)),
                ("callback_id", models.BigIntegerField(null=True)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
            ],
            options={
                "ordering": ["at", "pk"],
                "indexes": [
                    models.Index(fields=["order", "at"], name="order_event_timeline"),
                    models.Index(fields=["txid", "id"], name="order_event_to_seal"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="d830ee7a2438e55360e56e01f9c5976a5c2c8723",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_66884",
                            table="purchases_orderevent",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="7977f1566a1160b9760bc2dc980ebbf4529f62d0",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_3b005",
                            table="purchases_orderevent",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="own_transaction",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (NEW.txid <> transaction_number())",
                            func="NEW.txid = transaction_number(); RETURN NEW;",
                            hash="cf212cfd220a80ba245ba5e37f2161c3df418ded",
                            operation="INSERT",
                            pgid="pgtrigger_own_transaction_029fa",
                            table="purchases_orderevent",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OrderHistory",
            fields=[
                ("pgh_id", models.BigAutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField()),
                ("pgh_label", models.CharField(max_length=6)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="history",
                        to="purchases.order",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                ("ref_id", models.CharField(max_length=64)),
                ("kind", models.CharField(default="purchase", max_length=10)),
                ("idempotency_key", models.CharField(max_length=64)),
                (
                    "product",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="catalogue.product",
                    ),
                ),
                ("product_code", models.CharField(max_length=100)),
                ("product_name", models.CharField(max_length=1000)),
                ("destination", models.CharField(max_length=64)),
                ("max_price", models.BigIntegerField()),
                ("price", models.BigIntegerField(null=True)),
                ("selling_price", models.BigIntegerField(null=True)),
                ("fee", models.BigIntegerField(null=True)),
                (
                    "payment",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="drawers.payment",
                    ),
                ),
                ("status", models.CharField(default="queued", max_length=12)),
                ("action_reason", models.CharField(blank=True, max_length=20)),
                ("error_code", models.CharField(blank=True, max_length=40)),
                ("message", models.CharField(blank=True, max_length=1000)),
                ("trx_id", models.CharField(blank=True, max_length=100)),
                ("sn", models.CharField(blank=True, max_length=4000)),
                ("sn_by_hand", models.BooleanField(default=False)),
                (
                    "placed_by",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("waits_for_topup", models.BooleanField(default=False)),
                ("sent_at", models.DateTimeField(null=True)),
                ("final_at", models.DateTimeField(null=True)),
                ("attempt", models.IntegerField(default=0)),
                ("sent_no", models.BigIntegerField(null=True)),
                ("accepted_no", models.BigIntegerField(null=True)),
                ("pending_no", models.BigIntegerField(null=True)),
                ("ended_no", models.BigIntegerField(null=True)),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="order_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="order_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="f4832b44af81a34fcd85480eaf23aa61ebcb0220",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_6a46f",
                            table="purchases_orderhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="75103974e2d5c0587f7e29b645277822e547f6eb",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_007a1",
                            table="purchases_orderhistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="dfc784b2bbf69fc1c0d82601c7884744d49f4998",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_61591",
                            table="purchases_orderhistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReceiptPrint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "order",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="receipt_prints", to="purchases.order"
                    ),
                ),
                ("number", models.IntegerField()),
                ("paper", models.CharField(max_length=2)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "shop",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="shop.shophistory"
                    ),
                ),
                ("sheet", models.UUIDField(null=True)),
                (
                    "printed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
                (
                    "branch",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="branches.branchhistory",
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
                "indexes": [
                    models.Index(fields=["txid", "id"], name="receipt_print_to_seal"),
                    models.Index(
                        condition=models.Q(("sheet__isnull", False)), fields=["sheet"], name="receipt_print_by_sheet"
                    ),
                    models.Index(condition=models.Q(("number__gt", 1)), fields=["at"], name="receipt_print_copies"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("order", "number"), name="receipt_print_numbered"),
                    models.CheckConstraint(
                        condition=models.Q(("number__gte", 1)), name="receipt_print_number_from_one"
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="55b3c3cab6ff600d6bef40768afc11c7671b065d",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_cabee",
                            table="purchases_receiptprint",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="50a5fd958c7037a17c6d4f1edfe9825f56c565b7",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_91024",
                            table="purchases_receiptprint",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="own_transaction",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (NEW.txid <> transaction_number())",
                            func="NEW.txid = transaction_number(); RETURN NEW;",
                            hash="bab1162d36b630720e643f789c069def4bc99eab",
                            operation="INSERT",
                            pgid="pgtrigger_own_transaction_4fbb1",
                            table="purchases_receiptprint",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Verdict",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False)),
                (
                    "order",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="verdicts", to="purchases.order"
                    ),
                ),
                ("outcome", models.CharField(max_length=10)),
                ("order_status", models.CharField(blank=True, max_length=12)),
                ("sn", models.CharField(blank=True, max_length=200)),
                ("evidence", models.CharField(max_length=500)),
                ("reason", models.CharField(max_length=500)),
                (
                    "proposed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("proposed_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "approved_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "declined_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "approval",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="approvals.approval",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("evidence__gt", ""), ("reason__gt", "")), name="verdict_has_its_reasons"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("outcome__in", ["success", "failed", "reversed"])),
                        name="verdict_outcome_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("outcome", "success"), ("sn", ""), _connector="OR"),
                        name="verdict_sn_of_a_success",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("approved_by__isnull", True),
                            models.Q(("approved_by", models.F("proposed_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="verdict_needs_two_people",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("approved_by__isnull", True),
                                ("decided_at__isnull", True),
                                ("declined_by__isnull", True),
                            ),
                            models.Q(
                                ("approved_by__isnull", False),
                                ("decided_at__isnull", False),
                                ("declined_by__isnull", True),
                            ),
                            models.Q(("approved_by__isnull", True), ("decided_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="verdict_decided_by_one",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("decided_at__isnull", True)), fields=("order",), name="verdict_open_once"
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="what_was_proposed_never_changes",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."order_id" IS DISTINCT FROM (NEW."order_id") OR OLD."outcome" IS DISTINCT FROM (NEW."outcome") OR OLD."order_status" IS DISTINCT FROM (NEW."order_status") OR OLD."sn" IS DISTINCT FROM (NEW."sn") OR OLD."evidence" IS DISTINCT FROM (NEW."evidence") OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."proposed_by_id" IS DISTINCT FROM (NEW."proposed_by_id") OR OLD."proposed_at" IS DISTINCT FROM (NEW."proposed_at"))',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="ff173472c6675d0abf6892239a92f9c1396f7c0d",
                            operation="UPDATE",
                            pgid="pgtrigger_what_was_proposed_never_changes_9324d",
                            table="purchases_verdict",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="decided_once",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition='WHEN (OLD."decided_at" IS NOT NULL)',
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                            hash="39c2f678fc34e4d4ee297e896c4a821de520081c",
                            operation="UPDATE",
                            pgid="pgtrigger_decided_once_d7c6a",
                            table="purchases_verdict",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_deleted",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                            hash="b8603b65911d817bf0d25cd681618c165d65237e",
                            operation="DELETE",
                            pgid="pgtrigger_never_deleted_d68fa",
                            table="purchases_verdict",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="fe86e258645125758500072d70517a793a853fe3",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_984d5",
                            table="purchases_verdict",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "purchases_verdicthistory" ("approval_id", "approved_by_id", "decided_at", "declined_by_id", "evidence", "id", "order_id", "order_status", "outcome", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "proposed_at", "proposed_by_id", "reason", "sn") VALUES (NEW."approval_id", NEW."approved_by_id", NEW."decided_at", NEW."declined_by_id", NEW."evidence", NEW."id", NEW."order_id", NEW."order_status", NEW."outcome", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'insert\', NEW."id", NEW."proposed_at", NEW."proposed_by_id", NEW."reason", NEW."sn"); RETURN NULL;',
                            hash="08d34fda560d9f5cb094cfcf8141e47a125753b3",
                            operation="INSERT",
                            pgid="pgtrigger_history_insert_8c37f",
                            table="purchases_verdict",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "purchases_verdicthistory" ("approval_id", "approved_by_id", "decided_at", "declined_by_id", "evidence", "id", "order_id", "order_status", "outcome", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "proposed_at", "proposed_by_id", "reason", "sn") VALUES (NEW."approval_id", NEW."approved_by_id", NEW."decided_at", NEW."declined_by_id", NEW."evidence", NEW."id", NEW."order_id", NEW."order_status", NEW."outcome", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'update\', NEW."id", NEW."proposed_at", NEW."proposed_by_id", NEW."reason", NEW."sn"); RETURN NULL;',
                            hash="a62f0ce9d9f3f169aecb56fc4853caa629b40369",
                            operation="UPDATE",
                            pgid="pgtrigger_history_update_dbbed",
                            table="purchases_verdict",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="history_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "purchases_verdicthistory" ("approval_id", "approved_by_id", "decided_at", "declined_by_id", "evidence", "id", "order_id", "order_status", "outcome", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "proposed_at", "proposed_by_id", "reason", "sn") VALUES (OLD."approval_id", OLD."approved_by_id", OLD."decided_at", OLD."declined_by_id", OLD."evidence", OLD."id", OLD."order_id", OLD."order_status", OLD."outcome", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'delete\', OLD."id", OLD."proposed_at", OLD."proposed_by_id", OLD."reason", OLD."sn"); RETURN NULL;',
                            hash="5b10ea25f49530fcb891dcba26ee424817abe9b4",
                            operation="DELETE",
                            pgid="pgtrigger_history_delete_1211f",
                            table="purchases_verdict",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="VerdictHistory",
            fields=[
                ("pgh_id", models.BigAutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField()),
                ("pgh_label", models.CharField(max_length=6)),
                ("txid", models.BigIntegerField(db_default=core.transactions.TRANSACTION_NUMBER, editable=False)),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="history",
                        to="purchases.verdict",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "order",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="purchases.order",
                    ),
                ),
                ("outcome", models.CharField(max_length=10)),
                ("order_status", models.CharField(blank=True, max_length=12)),
                ("sn", models.CharField(blank=True, max_length=200)),
                ("evidence", models.CharField(max_length=500)),
                ("reason", models.CharField(max_length=500)),
                (
                    "proposed_by",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("proposed_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "approved_by",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "declined_by",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "approval",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="approvals.approval",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["txid", "pgh_id"], name="verdict_history_seal"),
                    models.Index(fields=["pgh_obj", "-pgh_id"], name="verdict_history_row"),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="append_only",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                            hash="82da4e8bfe6379855d82d5d2fac8f155ef06fc8e",
                            operation="UPDATE OR DELETE",
                            pgid="pgtrigger_append_only_fa88a",
                            table="purchases_verdicthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="never_truncated",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
                            hash="6c9a905145f04b5d854939090cd38e378951369a",
                            level="STATEMENT",
                            operation="TRUNCATE",
                            pgid="pgtrigger_never_truncated_fdf24",
                            table="purchases_verdicthistory",
                            when="BEFORE",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="only_copies",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (pg_trigger_depth() = 0)",
                            func="RAISE EXCEPTION 'pgtrigger: Cannot insert rows from % table', TG_TABLE_NAME;",
                            hash="a7202b0759610ce38ec37f9c214c4367cc02fceb",
                            operation="INSERT",
                            pgid="pgtrigger_only_copies_8bb3f",
                            table="purchases_verdicthistory",
                            when="BEFORE",
                        ),
                    ),
                ],
            },
        ),
    ]
