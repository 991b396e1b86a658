"""The reasons why nothing was done with a batch, in words for the person."""

from django.utils.translation import gettext_lazy as _

from core.errors import ForReason


class BatchRefused(ForReason):
    """Nothing was done. `reason` is one of the keys below."""

    texts = {
        "changed": _("The rows have changed since you saw them: look at the totals again, then release it."),
        "nothing": _("No row can be sold as it stands. Correct the rows first."),
        "released": _("It was released already: its rows stay as they are."),
        "over": _("It is over: nothing of it is left to be sent."),
        "running": _("It is running already."),
        "not_running": _("It is not running."),
        "unknown_key": _("There is no such batch. Check the file first: that gives the key."),
        "nothing_owed": _("No money of it is to be given back, or somebody has noted that already."),
        "no_failed": _("No row of it has failed."),
        "texts_gone": _("What was typed in it is kept no longer: write a new table."),
        "no_product": _(
            "None of these rows becomes a sale by that. Write what you would write in a row: a denomination such as"
            " “10”, “xl 10”, or a product’s code such as “TSEL10”."
        ),
        "not_repeatable": _(
            "These rows cannot be meant twice: an order for each is still open, or they are the same bill."
        ),
        "asking": _("Its bills are still being checked. Wait for the totals, then release it."),
        "none_due": _("Tick at least one bill that is still to be paid."),
        "no_bills": _("There are bills among these rows. To release them takes the right to check bills."),
        "not_releaser": _("To approve it takes the right to release batches."),
        "rows_wait": _(
            "Some rows wait for a person: their total has changed, their biller has not answered,"
            " or the app failed. Look at them, then try them again as a new batch, or cancel them."
        ),
        "restored": _(
            "The shop was restored from a backup. Somebody may have paused or cancelled this batch since then:"
            " resume it if its rows are still to be sold."
        ),
        "off": _(
            "The person who released it may not release batches any more."
            " Cancel the rest, and try it again as a new batch."
        ),
    }
