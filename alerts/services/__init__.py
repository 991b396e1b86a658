"""Alerts: opened and closed by their kinds, and brought to people."""

from alerts.services.evaluating import evaluate_alerts, is_evaluation_late
from alerts.services.notifying import notify_people
from alerts.services.results import choose_results, send_results, send_test
from alerts.services.snoozing import LONGEST, Hidden, Pause, show_again, snooze, snoozes_question
from alerts.services.ways import add_way, send_to_all, take_way_away
