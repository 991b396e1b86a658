"""Acts on the bank's rows, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

BANK_FILE_READ = Event("bank_file_read", _("Statement of the bank read"), about="bank")
BANK_FILE_TAKEN_BACK = Event("bank_file_taken_back", _("Statement of the bank taken back"), about="bank")
BANK_ROW_MATCHED = Event("bank_row_matched", _("Row of the bank matched by hand"), about="bank_row")
BANK_ROW_UNMATCHED = Event("bank_row_unmatched", _("Match of a row of the bank taken away"), about="bank_row")
BANK_ROW_SET_ASIDE = Event("bank_row_set_aside", _("Row of the bank set aside"), about="bank_row")
