"""The rights of the app's role on each table, and how they are granted and proved.

The owner of the tables migrates. Every process signs in as another role, which is neither owner nor superuser: it
cannot change a table, take a trigger away, empty a table, or rewrite a table that only grows. A new table needs a
row here.
"""

from collections.abc import Iterator

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg import sql

_WORDS = {"S": "SELECT", "I": "INSERT", "U": "UPDATE", "D": "DELETE"}
# Only the owner has these.
_NEVER = ("TRUNCATE", "REFERENCES", "TRIGGER")

# Table → select, insert, update, delete. Read-only: SELECT alone; added to and never changed: SI; never deleted: SIU.
RIGHTS: dict[str, str] = {
    # Django's own
    "django_migrations": "S",
    "django_content_type": "S",
    "django_cache": "SIUD",
    "auth_permission": "S",
    "auth_group": "S",
    "auth_group_permissions": "SID",  # a role's rights can be edited
    "account_emailaddress": "S",
    "account_emailconfirmation": "S",
    # staff
    "staff_user": "SIU",
    "staff_user_groups": "SID",
    "staff_user_user_permissions": "S",
    "staff_session": "SIUD",
    "staff_accesslink": "SIU",
    "staff_rolelimits": "SIUD",
    "staff_userhistory": "SI",
    "staff_membershiphistory": "SI",
    "staff_ownpermissionhistory": "SI",
    "staff_rolegrouphistory": "SI",
    "staff_rolepermissionhistory": "SI",
    "staff_rolelimitshistory": "SI",
    "staff_accesslinkhistory": "SI",
    "staff_factorhistory": "SI",
    "staff_outsideaccounthistory": "SI",
    "staff_throttle": "SIUD",
    "staff_spentchallenge": "SID",
    "mfa_authenticator": "SIUD",
    "socialaccount_socialaccount": "SIUD",
    "socialaccount_socialapp": "",  # the provider is named by settings
    "socialaccount_socialtoken": "",  # no token is kept
    # audit
    "audit_auditevent": "SI",
    "audit_source": "SI",
    "audit_tile": "SIU",
    "audit_checkpoint": "SI",
    "audit_sealing": "SIU",
    # of django-pghistory; nothing of ours uses it
    "pghistory_context": "",
    # approvals
    "approvals_approval": "SIU",
    "approvals_approvalhistory": "SI",
    # gateway
    "gateway_exchange": "SID",  # old ones are deleted; a trigger keeps the others
    "gateway_upstreamaccount": "SIU",
    # ledger
    "ledger_books": "SIU",
    "ledger_entry": "SI",
    "ledger_closedday": "SI",
    "ledger_runningday": "SIU",
    "ledger_proof": "SIU",
    # catalogue
    "catalogue_category": "SIU",
    "catalogue_brand": "SIU",
    "catalogue_product": "SIU",
    "catalogue_producthealth": "SIU",
    "catalogue_pricechange": "SI",
    "catalogue_cataloguesync": "SIU",
    "catalogue_kindcorrection": "SIUD",
    "catalogue_kindcorrectionhistory": "SI",
    "catalogue_pricerule": "SIU",
    "catalogue_pricerulehistory": "SI",
    "catalogue_publicpricelist": "SIU",
    # customers
    "customers_customer": "SIUD",
    "customers_savednumber": "SIUD",
    "customers_mergedcustomer": "SIUD",
    "customers_customerhistory": "SI",
    "customers_savednumberhistory": "SI",
    # purchases
    "purchases_order": "SIU",
    "purchases_orderevent": "SI",
    "purchases_incident": "SIU",
    "purchases_lostorder": "SIU",
    "purchases_receiptprint": "SI",
    "purchases_ordernote": "SI",
    "purchases_tag": "SI",
    "purchases_order_tags": "SID",
    "purchases_verdict": "SIU",
    "purchases_orderhistory": "SI",
    "purchases_incidenthistory": "SI",
    "purchases_verdicthistory": "SI",
    # bills
    "bills_billcheck": "SIU",
    "bills_inquiry": "SI",
    "bills_billcheckhistory": "SI",
    # dues
    "dues_followednumber": "SIUD",
    "dues_duebill": "SIUD",
    # batches
    "batches_batch": "SIU",
    "batches_batchrow": "SIU",
    # reconciliation
    "reconciliation_reconciliation": "SIU",
    "reconciliation_reconciliationrun": "SIU",
    "reconciliation_difference": "SIU",
    "reconciliation_expectedtopup": "SIU",
    "reconciliation_adjustment": "SIU",
    "reconciliation_differencehistory": "SI",
    "reconciliation_expectedtopuphistory": "SI",
    "reconciliation_adjustmenthistory": "SI",
    # alerts
    "alerts_alert": "SIU",
    "alerts_alertsnooze": "SI",
    "alerts_evaluation": "SIU",
    "alerts_alertnotice": "SIU",
    "alerts_addedway": "SIUD",  # a trigger lets nothing but the seal change
    "alerts_resultchoice": "SIU",
    "alerts_resultmessage": "SIU",
    # callbacks
    "callbacks_callback": "SIU",
    "callbacks_callbackhistory": "SI",
    "callbacks_callbackrefusal": "SID",
    "callbacks_callbackrefusalcount": "SIU",
    # exports
    "exports_export": "SIUD",
    "exports_exportpart": "SID",
    "exports_savedview": "SIUD",
    # policies
    "policies_policies": "SIU",
    "policies_policieshistory": "SI",
    # branches
    "branches_branch": "SIU",
    "branches_branchhistory": "SI",
    # shop
    "shop_shop": "SIU",
    "shop_shophistory": "SI",
    "shop_logo": "SI",
    # tills
    "tills_till": "SIU",
    "tills_tillprinter": "SIUD",
    "tills_draweropening": "SIU",
    "tills_enrolmentcode": "SIU",
    "tills_pin": "SIUD",
    "tills_tillhistory": "SI",
    "tills_pinhistory": "SI",
    # counter
    "counter_firsttile": "SID",
    # credit
    "credit_creditaccount": "SIU",
    "credit_creditentry": "SI",
    "credit_creditaccounthistory": "SI",
    # drawers
    "drawers_drawer": "SIU",
    "drawers_drawerday": "SIU",
    "drawers_shift": "SIU",
    "drawers_drawerentry": "SI",
    "drawers_payment": "SIU",
    "drawers_usualdrawer": "SIUD",
    "drawers_drawerhistory": "SI",
    "drawers_drawerdayhistory": "SI",
    "drawers_shifthistory": "SI",
    "drawers_paymenthistory": "SI",
    # bank
    "bank_bankaccount": "SIU",
    "bank_bankfile": "SID",
    "bank_bankrow": "SIUD",
    # earnings
    "earnings_summedday": "SIU",
    "earnings_daysum": "SID",
    "earnings_journalaccounts": "SIU",
    "earnings_journalaccountshistory": "SI",
    # complaints
    "complaints_complaint": "SIU",
    "complaints_complaintevent": "SI",
    "complaints_complainthistory": "SI",
    # work
    "work_taken": "SIUD",
}

_TABLES = """
    SELECT relname FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm') ORDER BY 1
"""
_HELD = """
    SELECT relname, array_agg(word) FROM pg_class, unnest(%(words)s::text[]) AS word
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
       AND has_table_privilege(%(role)s, pg_class.oid, word) GROUP BY 1
"""
_SEQUENCES = """
    SELECT sequence.relname, owner.relname, has_sequence_privilege(%(role)s, sequence.oid, 'USAGE')
      FROM pg_class sequence JOIN pg_depend ON objid = sequence.oid AND deptype IN ('a', 'i')
      JOIN pg_class owner ON owner.oid = refobjid
     WHERE sequence.relkind = 'S' AND sequence.relnamespace = current_schema()::regnamespace
"""
_ROLE = """
    SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls,
           array(SELECT roleid::regrole::text FROM pg_auth_members WHERE member = pg_roles.oid),
           array(SELECT nspname::text FROM pg_namespace
                  WHERE nspname !~ '^pg_temp_' AND has_schema_privilege(pg_roles.oid, pg_namespace.oid, 'CREATE')),
           has_database_privilege(oid, current_database(), 'CREATE'),
           has_database_privilege(oid, current_database(), 'TEMPORARY'),
           array(SELECT relname::text FROM pg_class WHERE relowner = pg_roles.oid
                  ORDER BY relkind NOT IN ('r', 'p', 'v', 'm'), relname LIMIT 5),
           array(SELECT proname::text FROM pg_proc WHERE proowner = pg_roles.oid ORDER BY proname LIMIT 5)
      FROM pg_roles WHERE rolname = %(role)s
"""
_SWITCHES_TRIGGERS_OFF = "has_parameter_privilege(%(role)s, 'session_replication_role', 'SET')"
_TOO_MUCH = (
    "is a superuser",
    "may make databases",
    "may make roles",
    "may replicate",
    "passes row security",
    "is a member of {}",
    "may make tables in {}",
    "may make schemas",
    "may make temporary tables",
    "owns {}",
    "owns the functions {}",
)


def expected(table: str) -> set[str]:
    """The rights on a table; none on a table that is not ours."""
    return {_WORDS[letter] for letter in RIGHTS.get(table, "")}


def grant_rights(role: str) -> int:
    """Give the role exactly its rights on the tables that are there; returns how many statements that took.

    Call it as the tables' owner. It does not touch rights that are correct, so that a start disturbs nobody.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        statements = [*_statements(cursor, role)]
        for statement in statements:
            cursor.execute(statement)
    return len(statements)


def _statements(cursor: CursorWrapper, role: str) -> Iterator[sql.Composed]:
    named = sql.Identifier(role)
    cursor.execute("SELECT current_schema(), current_database()")
    schema, database = map(sql.Identifier, cursor.fetchone())
    if not _is_held(cursor, "has_schema_privilege(%(role)s, current_schema(), 'USAGE')", role):
        yield sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(schema, named)
    if _is_held(cursor, "has_database_privilege(%(role)s, current_database(), 'TEMPORARY')", role):
        yield sql.SQL("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC, {}").format(database, named)
    if _is_held(cursor, "has_schema_privilege(%(role)s, current_schema(), 'CREATE')", role):
        yield sql.SQL("REVOKE CREATE ON SCHEMA {} FROM PUBLIC, {}").format(schema, named)
    held = _held(cursor, role)
    cursor.execute(_TABLES)
    for (table,) in cursor.fetchall():
        due, there = expected(table), held.get(table, set())
        if more := sorted(there - due):
            yield _changed("REVOKE {} ON {} FROM PUBLIC, {}", more, table, named)
        if less := sorted(due - there):
            yield _changed("GRANT {} ON {} TO {}", less, table, named)
    cursor.execute(_SEQUENCES, {"role": role})
    for sequence, table, is_held in cursor.fetchall():
        if "INSERT" in expected(table) and not is_held:
            yield sql.SQL("GRANT USAGE ON SEQUENCE {} TO {}").format(sql.Identifier(sequence), named)


def _changed(statement: str, words: list[str], table: str, role: sql.Identifier) -> sql.Composed:
    rights = sql.SQL(", ").join(map(sql.SQL, words))
    return sql.SQL(statement).format(rights, sql.Identifier(table), role)


def _is_held(cursor: CursorWrapper, question: str, role: str) -> bool:
    cursor.execute(f"SELECT {question}", {"role": role})
    return bool(cursor.fetchone()[0])


def _held(cursor: CursorWrapper, role: str) -> dict[str, set[str]]:
    cursor.execute(_HELD, {"role": role, "words": [*_WORDS.values(), *_NEVER]})
    return {table: set(words) for table, words in cursor.fetchall()}


def excess(role: str = "") -> Iterator[str]:
    """The rights that a role (by default that of our processes) has and should not have, in words."""
    role = role or settings.DATABASE_APP_ROLE
    with connection.cursor() as cursor:
        cursor.execute(_ROLE, {"role": role})
        for words, objects in zip(_TOO_MUCH, cursor.fetchone(), strict=True):
            if objects:
                yield words.format(", ".join(objects) if isinstance(objects, list) else "")
        if _is_held(cursor, _SWITCHES_TRIGGERS_OFF, role):
            yield "may switch triggers off"
        for table, held in sorted(_held(cursor, role).items()):
            if more := held - expected(table):
                yield f"may {', '.join(sorted(more))} {table}"


def lacking(role: str = "") -> Iterator[str]:
    """The rights that a role lacks and should have, in words."""
    with connection.cursor() as cursor:
        held = _held(cursor, role or settings.DATABASE_APP_ROLE)
    for table in RIGHTS:
        if less := expected(table) - held.get(table, set()):
            yield f"may not {', '.join(sorted(less))} {table}"
