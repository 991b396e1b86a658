from django.db import migrations

# In plpgsql, because a session keeps its plan: to plan a query over six tables anew takes longer than to run it, and
# each sending asks. What it returns stands beside the order in a line of the journal (purchases/services/sent.py).
SENT_BESIDE = """
CREATE FUNCTION purchases_sent_beside(paid_by bigint) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT json_build_object(
            'account', coalesce((SELECT fingerprint FROM gateway_upstreamaccount), ''),
            'seller_name', seller.username,
            'payment', json_build_object(
                'method', payment.method, 'amount', payment.amount, 'cash_given', payment.cash_given,
                'reference', payment.reference, 'shift', coalesce(payment.sold_in_id, payment.agreed_in_id),
                'drawer', shift.drawer_id, 'branch', payment.branch_id, 'customer', account.customer_id),
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
        ("approvals", "0001_initial"),
        ("credit", "0001_initial"),
        ("drawers", "0001_initial"),
        ("gateway", "0001_initial"),
        ("purchases", "0002_lost_orders"),
    ]

    operations = [
        migrations.RunSQL(SENT_BESIDE, "DROP FUNCTION purchases_sent_beside(bigint)"),
    ]
