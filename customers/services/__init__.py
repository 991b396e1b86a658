"""The services of customers and their numbers."""

from customers.services.importing import (
    MOST_KILOBYTES,
    MOST_ROWS,
    Outcome,
    Planned,
    import_customers,
    plan_import,
)
from customers.services.saving import (
    absorb,
    change_customer,
    customer_called,
    erase,
    joined,
    lock_customer,
    one_new_customer_at_a_time,
    save_number,
    saved_names,
    seal_of_numbers,
    where_merged,
    who_saved,
    why_kept,
)
