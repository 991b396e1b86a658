"""The services of tills and PINs."""

from tills.services.enrolling import (
    CODE_MINUTES,
    change_till,
    enrol,
    find_till,
    lock_change,
    make_code,
    refuse_name,
    switch_off,
    unlock_pins,
)
from tills.services.pins import epoch_of, has_pin, is_weak, people_with_pin, remove_pin, set_pin
from tills.services.printers import ask_opening, find_printer, set_printer, take_opening
from tills.services.sessions import (
    confirm_in_person,
    leave,
    let_go,
    note_password,
    person_there,
    stays_at,
    take_over,
)
