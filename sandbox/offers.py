"""The products that the catalogue's tables describe, as plain values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import time

from sandbox import catalogue_tables as tables


@dataclass(frozen=True, kw_only=True)
class Offer:
    """One product as the tables describe it; money in rupiah."""

    code: str
    name: str
    category: str
    brand: str
    price: int = 0
    admin_fee: int = 0
    description: str = ""
    cut_off: tuple[time, time] | None = None


def rupiah(amount: int) -> str:
    """150000 → "150.000"."""
    return f"{amount:,}".replace(",", ".")


def _short(nominal: int) -> str:
    """10000 → "10": product codes count in thousands."""
    return str(nominal // 1000)


def _rounded(amount: float) -> int:
    return round(amount / 25) * 25


def _phone() -> Iterator[Offer]:
    for brand, (prefix, margin) in tables.OPERATORS.items():
        for nominal in tables.PULSA_NOMINALS:
            # a larger nominal has a smaller margin; large ones sell below face value
            price = _rounded(nominal * (0.985 if nominal >= 100_000 else 1) + margin * (1 + nominal / 100_000) * 0.91)
            if nominal <= 10_000:
                price = nominal + margin
            yield Offer(
                code=f"{prefix}{_short(nominal)}",
                name=f"{brand} {rupiah(nominal)}",
                category="pulsa",
                brand=brand,
                price=price,
                description=f"Pulsa {brand} Rp{rupiah(nominal)}, masuk ke pulsa utama.",
            )
        for gigabytes, days, price in tables.DATA_PACKAGES:
            size = f"{gigabytes:g}".replace(".", ",")
            yield Offer(
                code=f"{prefix}D{f'{gigabytes:g}'.replace('.', '')}G{days}",
                name=f"{brand} Data {size} GB / {days} Hari",
                category="paket-data",
                brand=brand,
                price=_rounded(price * tables.DATA_LEVEL[brand] / 100),
                description=f"Kuota {size} GB, berlaku {days} hari, semua jaringan.",
            )
    for brand in tables.CALL_OPERATORS:
        for minutes, days, price in tables.CALL_PACKAGES:
            yield Offer(
                code=f"{tables.OPERATORS[brand][0]}TLP{minutes}M{days}",
                name=f"{brand} Telepon {minutes} Menit / {days} Hari",
                category="sms-telepon",
                brand=brand,
                price=_rounded(price * tables.DATA_LEVEL[brand] / 100),
                description=f"{minutes} menit ke semua operator dan {minutes} SMS, berlaku {days} hari.",
            )


def _prepaid() -> Iterator[Offer]:
    yield from _phone()
    for nominal in tables.PLN_NOMINALS:
        yield Offer(
            code=f"PLN{_short(nominal)}",
            name=f"Token PLN {rupiah(nominal)}",
            category="token-pln",
            brand="PLN",
            price=nominal + 275,
            description="Token listrik prabayar 20 angka. Tidak tersedia 23.30–00.30 WIB.",
            cut_off=tables.PLN_CUT_OFF,
        )
    for brand, (prefix, unit, packages) in tables.GAMES.items():
        for amount, price in packages.items():
            money = unit == "IDR"
            yield Offer(
                code=f"{prefix}{_short(amount) if money else amount}",
                name=f"{brand} {rupiah(amount)}" if money else f"{brand} {rupiah(amount)} {unit}",
                category="voucher-game",
                brand=brand,
                price=price,
                description="Kode voucher." if money else "Masukkan ID pemain (dan zona bila ada).",
            )
    for brand, (prefix, fee) in tables.WALLETS.items():
        for nominal in tables.WALLET_NOMINALS:
            yield Offer(
                code=f"{prefix}{_short(nominal)}",
                name=f"{brand} {rupiah(nominal)}",
                category="e-money",
                brand=brand,
                price=nominal + fee,
                description=f"Isi saldo {brand} Rp{rupiah(nominal)}.",
            )
    for brand, (prefix, plans) in tables.STREAMING.items():
        for number, (package, price) in enumerate(plans.items(), start=1):
            yield Offer(
                code=f"{prefix}{number}", name=f"{brand} {package}", category="streaming", brand=brand, price=price
            )


def _postpaid() -> Iterator[Offer]:
    for category, brands in tables.BILLERS.items():
        for brand, products in brands.items():
            for code, (name, fee) in products.items():
                yield Offer(
                    code=code,
                    name=name,
                    category=category,
                    brand=brand,
                    admin_fee=fee,
                    description="Tagihan dicek lebih dulu; biaya admin termasuk dalam total.",
                    cut_off=tables.PLN_CUT_OFF if category == "pln-pascabayar" else None,
                )
    for suffix, name in tables.PDAM.items():
        yield Offer(
            code=f"PDAM{suffix}", name=f"PDAM {name}", category="pdam", brand="PDAM", admin_fee=2_500,
            description="Tagihan air; denda keterlambatan termasuk dalam total.",
        )  # fmt: skip


def offers() -> list[Offer]:
    """Every product of the catalogue, in the order of the categories."""
    order = [code for code, _, _ in tables.CATEGORIES]
    return sorted((*_prepaid(), *_postpaid()), key=lambda offer: order.index(offer.category))


def brand_code(category: str, brand: str) -> str:
    """The code of a brand in a category; unique, because a brand may sell in several categories."""
    slug = re.sub(r"[^a-z0-9]+", "-", brand.lower()).strip("-")
    return slug if category not in ("paket-data", "sms-telepon") else f"{slug}-{category}"
