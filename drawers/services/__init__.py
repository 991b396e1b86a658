"""The services of drawers and payments, each under the row's lock."""

from drawers.services.cash import pay_in, pay_out
from drawers.services.credit_branches import credit_of_branch
from drawers.services.credit_payments import pay_out_credit, take_credit_payment, undo_credit_payment
from drawers.services.days import (
    DayLine,
    cash_of_day,
    day_lines,
    open_shifts_until,
    orders_in_no_shift,
    seal_of,
    sign_day,
    sold_for_next_shifts,
    sold_in_no_shift,
)
from drawers.services.explaining import explain, explanations_of, may_explain, unexplained
from drawers.services.facts import PaymentFacts, refuse_used_slip
from drawers.services.locking import lock_shift, open_shift_of
from drawers.services.managing import add_drawer, change_drawer, free_usual_drawer, set_usual_drawer
from drawers.services.merging import merge_customers
from drawers.services.own import OwnDrawer, counts_blind, is_blind, own_drawer_of, own_drawer_questions
from drawers.services.payments import (
    Ending,
    branch_of_sale,
    change_payment,
    end_payments,
    follow_price,
    is_other_way,
    note_change,
    refuse_other_debtor,
    take_payment,
    will_be_owed,
)
from drawers.services.refunds import give_back, note_given_back, unsettled
from drawers.services.shifts import (
    close_shift,
    confirm_receiver,
    correct_count,
    expected_cash,
    first_reason_of,
    hand_over,
    open_shift,
    rounded_up,
)
from drawers.services.taking_in import take_in_payment
from drawers.services.totals import Totals, totals_of
