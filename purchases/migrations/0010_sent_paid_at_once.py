from django.db import migrations

# The function of 0003_sent_beside; a line of the journal now also says which orders were one payment. A row of a
# restored batch finds the payment of its bill by that.
SENT_BESIDE = """
CREATE OR REPLACE FUNCTION purchases_sent_beside(paid_by bigint) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT json_build_object(
            'account', coalesce((SELECT fingerprint FROM gateway_upstreamaccount), ''),
            'seller_name', seller.username,
            'payment', json_build_object(
                'method', payment.method, 'amount', payment.amount, 'cash_given', payment.cash_given,
                'reference', payment.reference, 'shift', coalesce(payment.sold_in_id, payment.agreed_in_id),
                'drawer', shift.drawer_id, 'branch', payment.branch_id, 'customer', account.customer_id,
                'paid_at_once', payment.paid_at_once),
            'approval', CASE WHEN approval.id IS NOT NULL THEN json_build_object(
                'id', approval.id, 'sha256', approval.sha256, 'by', approval.decided_by_id,
                'at', approval.decided_at) END)
          FROM drawers_payment payment
          LEFT JOIN staff_user seller ON seller.id = payment.seller_id
          LEFT JOIN drawers_shift shift ON shift.id = coalesce(payment.sold_in_id, payment.agreed_in_id)
          LEFT JOIN credit_creditentry debt ON debt.id = payment.debt_id
          LEFT JOIN credit_creditaccount account ON account.id = debt.account_id
          LEFT JOIN approvals_approval approval ON approval.result = payment.ref_id AND approval.result > ''
         WHERE payment.id = paid_by);
END
$$
"""


class Migration(migrations.Migration):
    dependencies = [
        ("drawers", "0005_paid_at_once"),
        ("purchases", "0009_newest_of_a_number"),
    ]

    operations = [
        migrations.RunSQL(SENT_BESIDE, migrations.RunSQL.noop),
    ]
