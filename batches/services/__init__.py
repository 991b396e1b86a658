"""Many sales from one table. Nothing here spends money: `purchases` places the order of each row."""

from batches.services.forgetting import forget_old_texts
from batches.services.mending import ASK_AGAIN, LEAVE_OUT, MEANT, NAMES, STEPS, change_row, mend_all, tick
from batches.services.placing import AHEAD, DUE_BATCHES, follow, is_over, place_rows
from batches.services.releasing import (
    batch_of_key,
    cancel,
    key_of,
    largest_of,
    may_release,
    pause,
    pause_restored,
    release,
    resume,
    seal_of,
    settle,
)
from batches.services.storing import again, batch_of_due, check_table
