"""The made-up shop: what it sells how often, to whom, through whom, and when. Nothing in it is even."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from random import Random
from typing import Generic, TypeVar

from django.contrib.auth.models import Group
from django.db import transaction
from django.utils import timezone

from audit.kinds import Kind
from audit.services import record
from catalogue.models import Product, ProductType
from staff.models import User

T = TypeVar("T")

CASHIERS = 14
# How busy each hour of the shop's day is, and how busy the days of a week (Monday first).
_HOURS = (1, 1, 1, 1, 2, 4, 9, 14, 20, 24, 26, 25, 22, 20, 21, 24, 28, 33, 36, 34, 27, 18, 9, 3)
_WEEKDAYS = (10, 9, 9, 10, 12, 14, 11)
_PAYDAYS = {1: 1.9, 2: 1.5, 25: 1.6, 26: 1.4, 28: 1.3}
_HOUR = 3600
_FIRST_NAMES = (
    "Siti", "Budi", "Agus", "Dewi", "Rina", "Joko", "Wahyu", "Ayu", "Putri", "Rudi", "Yanti", "Hendra", "Lestari",
    "Bambang", "Fitri", "Eko", "Nur", "Dian", "Adi", "Ani", "Arif", "Bayu", "Citra", "Dedi", "Desi", "Dodi", "Endang",
    "Fajar", "Galih", "Hadi", "Heri", "Ika", "Indah", "Intan", "Iwan", "Kartika", "Lina", "Maya", "Mega", "Nanda",
    "Nina", "Oki", "Ratna", "Reza", "Rizky", "Sari", "Slamet", "Sri", "Tono", "Tri", "Umar", "Vina", "Wati", "Yoga",
    "Yudi", "Yuni", "Zainal",
)  # fmt: skip
_LAST_NAMES = (
    "Aminah", "Santoso", "Wibowo", "Pratama", "Hidayat", "Saputra", "Rahayu", "Kusuma", "Nugroho", "Siregar", "Halim",
    "Anggraini", "Basuki", "Budiman", "Cahyono", "Darmawan", "Effendi", "Fauzi", "Firmansyah", "Ginting", "Gunawan",
    "Handayani", "Harahap", "Hartono", "Irawan", "Iskandar", "Kurniawan", "Lubis", "Maulana", "Mulyadi", "Mulyono",
    "Nasution", "Panjaitan", "Permana", "Prasetyo", "Purnomo", "Purwanto", "Rachman", "Ramadhan", "Sanjaya", "Setiawan",
    "Simanjuntak", "Sitorus", "Situmorang", "Suharto", "Sukardi", "Susanti", "Susanto", "Sutrisno", "Suryadi",
    "Tambunan", "Utami", "Wahyudi", "Wicaksono", "Widodo", "Wijaya", "Winarno", "Yulianto", "Yusuf",
)  # fmt: skip
_PREFIXES = {
    "telkomsel": "0812", "by.u": "0851", "indosat": "0857", "xl": "0878", "axis": "0838", "tri": "0896",
    "smartfren": "0882",
}  # fmt: skip


class Uneven(Generic[T]):
    """Picks from a list: the n-th is picked about 1/n as often as the first."""

    def __init__(self, values: list[T], random: Random) -> None:
        self._random = random
        self._values = values
        self._weights = list(accumulate(1 / (number + 2) for number in range(len(values))))
        self._picked: list[T] = []

    def pick(self) -> T:
        """One of them."""
        if not self._picked:  # many at once cost a tenth
            self._picked = self._random.choices(self._values, cum_weights=self._weights, k=5_000)
        return self._picked.pop()

    def with_random(self, random: Random) -> Uneven[T]:
        """The same, with other random numbers."""
        return Uneven(self._values, random)


@dataclass(frozen=True)
class Ware:
    """A product as orders name it; `kind` of its destination, whose eight digits stand between `begins` and `ends`.

    `wire`: how messages name it, JSON without the braces.
    """

    id: int
    code: str
    name: str
    price: int
    admin_fee: int
    kind: str
    begins: str
    ends: str
    wire: str


@dataclass(frozen=True)
class Shop:
    """What the history is made from. `cashiers` are ids of users; `first_admin` and `second_admin` decide together."""

    products: Uneven[Ware]
    billers: Uneven[Ware]
    cashiers: Uneven[int]
    first_admin: int
    second_admin: int
    customers: int

    def for_part(self, random: Random) -> Shop:
        """The same shop, with other random numbers."""
        picked = {name: getattr(self, name).with_random(random) for name in ("products", "billers", "cashiers")}
        return replace(self, **picked)

    def destination(self, ware: Ware, random: Random) -> str:
        """A number of somebody who may have bought before; few people buy much."""
        return number_of(ware, int(self.customers * random.random() ** 2))


def number_of(ware: Ware, person: int) -> str:
    """The number of a person (counted from 0) that fits the product."""
    return f"{ware.begins}{person * 2_654_435_761 % 10**8:08d}{ware.ends}"


def name_of(person: int) -> str:
    """The name of a person (counted from 0)."""
    first, last = divmod(person, len(_LAST_NAMES))
    return f"{_FIRST_NAMES[first % len(_FIRST_NAMES)]} {_LAST_NAMES[last]} {person + 1}"


def open_shop(random: Random, *, orders: int) -> Shop:
    """The shop with the catalogue's products and made-up cashiers, who cannot sign in."""
    listed = Product.objects.listed().select_related("brand", "category").order_by("pk")
    wares = [(product.type, _ware(product)) for product in listed]
    first_admin, second_admin = (User.objects.get(username=name).pk for name in ("admin", "owner"))
    random.shuffle(wares)
    return Shop(
        products=Uneven([ware for type_, ware in wares if type_ == ProductType.PREPAID and ware.price], random),
        billers=Uneven([ware for type_, ware in wares if type_ == ProductType.POSTPAID], random),
        cashiers=Uneven(_cashiers(), random),
        first_admin=first_admin,
        second_admin=second_admin,
        customers=max(200, orders // 8),
    )


def _ware(product: Product) -> Ware:
    brand = product.brand.name.lower()
    prefix = next((prefix for name, prefix in _PREFIXES.items() if brand.startswith(name)), "0813")
    example = product.kind.clean(product.kind.placeholder)
    is_phone = product.kind.is_phone_number(example)
    named = {"product_code": product.code, "product_name": product.name}
    return Ware(
        id=product.pk,
        code=product.code,
        name=product.name,
        price=product.price,
        admin_fee=product.admin_fee,
        kind=product.kind.code,
        begins=prefix if is_phone else "",
        ends="" if is_phone else example[8:],
        wire=json.dumps(named, ensure_ascii=False)[1:-1],
    )


@transaction.atomic
def _cashiers() -> list[int]:
    group, found = Group.objects.get(name="cashier"), []
    for number in range(1, CASHIERS + 1):
        user, is_new = User.objects.get_or_create(
            username=f"kasir-{number:02d}",
            defaults={"first_name": _FIRST_NAMES[number], "is_demo": True, "is_active": False},
        )
        if is_new:
            user.set_unusable_password()
            user.save(update_fields=["password"])
            user.groups.add(group)
            record(Kind.STAFF_INVITED, subject=user.username, after={"role": group.name}, facts={"demo": True})
        found.append(user.pk)
    return found


def busy_moments(start: dt.datetime, end: dt.datetime, number: int) -> Iterator[tuple[float, float]]:
    """When so many orders are placed between `start` and `end`, oldest first: (seconds since 1970, until the next).

    The shop grows: in a year it doubles. Days and hours differ as they do in a shop.
    """
    first, last = start.timestamp(), end.timestamp()
    hours = [first, *(hour for hour in _full_hours(first, last)), last]
    weights = [
        (after - before) * _busyness(before, (before - first) / (last - first)) for before, after in pairwise(hours)
    ]
    total, reached, placed = sum(weights), 0.0, 0
    for before, after, weight in zip(hours, hours[1:], weights, strict=False):
        reached += weight
        here = round(number * reached / total) - placed
        room = (after - before) / max(here, 1)
        for place in range(here):
            yield before + place * room, room
        placed += here


def _full_hours(first: float, last: float) -> Iterator[float]:
    hour = (first // _HOUR + 1) * _HOUR
    while hour < last:
        yield hour
        hour += _HOUR


def _busyness(at: float, share: float) -> float:
    local = timezone.localtime(dt.datetime.fromtimestamp(at, dt.UTC))
    return _HOURS[local.hour] * _WEEKDAYS[local.weekday()] * _PAYDAYS.get(local.day, 1.0) * (1 + share)
