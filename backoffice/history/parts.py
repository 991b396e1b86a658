"""History in parts that know nothing of each other, so that several processes write them side by side.

Each part begins and ends with a full balance and has ids of its own. Only the last one leaves anything reserved.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from random import Random

from backoffice.history.rows import Block
from backoffice.history.shop import Shop
from backoffice.history.writing import Account, Writer
from purchases.states import Status

ORDERS = 5_000
# Ids that an order needs at most in each table, by the name of its rows; a few more are set aside for each part.
_IDS_PER_ORDER = {"events": 6, "checks": 2, "inquiries": 2}
# Numbers that an order takes at most, with all that belongs to it.
NUMBERS_PER_ORDER = 20
_SPARE = 1_000
_UNPAID_CHECKS = 0.06


@dataclass(frozen=True)
class Made:
    """An order to be written: when it is placed, seconds until the next, how it ends, whether it seems lost."""

    at: float
    room: float
    outcome: Status
    waits: bool


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one process writes at a time. `seed`: of its random numbers; `now`: the end of the whole history."""

    orders: list[Made]
    account: Account
    next_ids: dict[str, int]
    seed: str
    now: float


def numbers_for(orders: int) -> int:
    """How many numbers are set aside for so many orders."""
    return orders * NUMBERS_PER_ORDER + (orders // ORDERS + 2) * _SPARE


def cut(made: Iterable[Made], first: Part) -> Iterator[Part]:
    """The parts of a history, one after another; `first` says where they begin."""
    part, orders = first, list[Made]()
    for one in made:
        orders.append(one)
        if len(orders) == ORDERS:
            yield replace(part, orders=orders)
            part, orders = _after(part, len(orders)), []
    if orders:
        yield replace(part, orders=orders)


def _after(part: Part, orders: int) -> Part:
    next_ids = {
        name: first + (orders if name == "orders" else orders * _IDS_PER_ORDER.get(name, 1) + _SPARE)
        for name, first in part.next_ids.items()
    }
    account = replace(part.account, no=part.account.no + orders * NUMBERS_PER_ORDER + _SPARE)
    return replace(part, account=account, next_ids=next_ids, seed=f"{part.seed}.")


def write(part: Part, shop: Shop) -> tuple[list[Block], Account]:
    """The rows of a part, and how the account stands after it."""
    random = Random(f"{part.seed} {part.next_ids['orders']}")  # noqa: S311 - it guards nothing
    writer = Writer(shop.for_part(random), part.account, part.next_ids, random=random, now=part.now)
    for made in part.orders:
        writer.order(made.at, made.room, made.outcome, waits=made.waits)
        if random.random() < _UNPAID_CHECKS:
            writer.unpaid_check(made.at)
    end = part.orders[-1].at + part.orders[-1].room * 0.95
    writer.top_up(end)
    writer.read_balance(end)
    return writer.rows.blocks(), writer.account


def write_all(parts: Iterable[Part], shop: Shop) -> Iterator[tuple[list[Block], Account]]:
    """The rows of all parts in their order, made by one process for each core; few of them wait at a time."""
    processes = os.cpu_count() or 1
    running: deque[Future[tuple[list[Block], Account]]] = deque()
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("fork")) as pool:
        for part in parts:
            running.append(pool.submit(write, part, shop))
            if len(running) > processes:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
