"""The services of customers' credit, each under the account's row lock."""

from credit.services.accounts import bring_forward, lock_account, name_of, set_credit
from credit.services.ageing import (
    Age,
    Debt,
    OffAccount,
    aged,
    debts_and_unfulfilled,
    debts_of,
    not_to_ask_for,
    owed_in_all,
    owing_in,
    still_owed,
    unfulfilled_sales,
)
from credit.services.paying import (
    last_paid_back,
    pay_back,
    pay_out_kept,
    record_payment,
    refuse_but_money,
    undo_payment,
)
from credit.services.selling import (
    OF_SALES,
    follow_price,
    give_back_credit,
    lock_both_accounts,
    put_on_credit,
    refuse_unless_sold_in_all,
    take_off_credit,
)
