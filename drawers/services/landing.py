"""Where a sale lands whose order ended after the shift that sold it had closed: what a closed shift came to stays.

It is the first shift of the same person that was open then, or was opened after, however many shifts later.
"""

from purchases.models.orders import LONG_ON_ITS_WAY

# The sales that another shift sold and that land in one of %(shifts)s (`counted_in`). Those that took long are found by
# their index; what ended soon was sold by a shift that closed shortly before. Fenced, so that no plan reads all rows.
LANDED = f"""
    SELECT taking.id AS counted_in, sale.*
      FROM drawers_shift taking
     CROSS JOIN LATERAL (
        SELECT one.closed_at FROM drawers_shift one
         WHERE one.cashier_id = taking.cashier_id AND (one.opened_at, one.id) < (taking.opened_at, taking.id)
         ORDER BY one.opened_at DESC, one.id DESC LIMIT 1
      ) former
     CROSS JOIN LATERAL (
        SELECT entry.* FROM drawers_shift sold
         CROSS JOIN LATERAL (SELECT * FROM drawers_drawerentry WHERE shift_id = sold.id OFFSET 0) entry
         WHERE sold.cashier_id = taking.cashier_id AND (sold.opened_at, sold.id) < (taking.opened_at, taking.id)
           AND sold.closed_at > former.closed_at - interval '{LONG_ON_ITS_WAY}' - interval '1 hour'
         UNION
        SELECT entry.* FROM purchases_order late
         CROSS JOIN LATERAL (
            SELECT * FROM drawers_drawerentry WHERE ref_id = late.ref_id AND ref_id > '' OFFSET 0
         ) entry
          JOIN drawers_shift sold ON sold.id = entry.shift_id AND sold.cashier_id = taking.cashier_id
           AND (sold.opened_at, sold.id) < (taking.opened_at, taking.id)
         WHERE late.final_at - late.created_at > interval '{LONG_ON_ITS_WAY}' AND late.final_at > former.closed_at
           AND (taking.closed_at IS NULL OR late.final_at <= taking.closed_at)
      ) sale
     CROSS JOIN LATERAL (SELECT final_at FROM purchases_order WHERE ref_id = sale.ref_id OFFSET 0) o
     WHERE taking.id = ANY(%(shifts)s) AND o.final_at > former.closed_at
       AND (taking.closed_at IS NULL OR o.final_at <= taking.closed_at)
"""  # noqa: S608 - our own text
# Those and what these shifts sold themselves, unless it was undone, each with its order and the shift that sold it.
COUNTED = f"""
      FROM (
        SELECT NULL::bigint AS counted_in, own.* FROM drawers_drawerentry own WHERE own.shift_id = ANY(%(shifts)s)
         UNION ALL {LANDED}
      ) sale
      JOIN drawers_shift sold ON sold.id = sale.shift_id
     CROSS JOIN LATERAL (SELECT * FROM purchases_order WHERE ref_id = sale.ref_id OFFSET 0) o
     CROSS JOIN LATERAL (
        SELECT count(*) AS times FROM drawers_drawerentry undoing WHERE undoing.undoes_id = sale.id OFFSET 0
      ) undone
"""  # noqa: S608 - our own text
IS_SALE = "sale.kind = 'sale' AND sale.undoes_id IS NULL AND undone.times = 0"
