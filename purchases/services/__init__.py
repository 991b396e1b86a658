"""The order's life, one module a subject. A status changes in `moving` only.

Lock order: see `moving`.
"""

from purchases.services.actions import Action, allowed_actions
from purchases.services.acts import ask_for_approval
from purchases.services.decisions import Decision, apply_verdict
from purchases.services.health import count_health, count_health_if_due, count_what_is_bought
from purchases.services.incidents import close_incident
from purchases.services.limits import allowance_of, outside_hours
from purchases.services.lost import end_approval, find_lost, take_in
from purchases.services.moving import keep_orders, lock_order_for_move
from purchases.services.notes import put_tag, remove_tag, write_note
from purchases.services.placing import needs_approval, place_order, refuse_repeat
from purchases.services.polling import has_arrived, poll
from purchases.services.reports import Report, apply_report, apply_reports
from purchases.services.resolving import cancel_order, close_never_arrived, note_given_back, poll_now, send_again
from purchases.services.sending import doubt, doubt_queued, submit
from purchases.services.sent import uncopied_since
from purchases.services.sweeping import DUE_ORDERS, longest_wait
from purchases.services.verdicts import approve_verdict, propose_verdict
from purchases.services.waiting import queue_waiting_orders, wait_no_longer
