"""Mobile operators, by the first digits of their numbers and by their brands in catalogues."""

from dataclasses import dataclass

from core.notation import at_home


@dataclass(frozen=True)
class Operator:
    """A mobile operator: its own spelling of its name, the first digits of its numbers, its brands in catalogues."""

    name: str
    prefixes: frozenset[str]
    brands: tuple[str, ...]


_OPERATORS = [
    Operator(name, frozenset(prefixes.split()), brands)
    for name, prefixes, brands in (
        ("Telkomsel", "0811 0812 0813 0821 0822 0823 0852 0853", ("telkomsel",)),
        ("by.U", "0851", ("by.u", "byu", "telkomsel")),
        ("Indosat", "0814 0815 0816 0855 0856 0857 0858", ("indosat", "im3")),
        ("XL", "0817 0818 0819 0859 0877 0878", ("xl",)),
        ("AXIS", "0831 0832 0833 0838", ("axis",)),
        ("Tri", "0895 0896 0897 0898 0899", ("tri", "three", "3")),
        ("Smartfren", "0881 0882 0883 0884 0885 0886 0887 0888 0889", ("smartfren",)),
    )
]


def operator_of(phone: str) -> Operator | None:
    """The mobile operator of a number in any notation; None when it is not recognised."""
    prefix = at_home(phone)[:4]
    return next((operator for operator in _OPERATORS if prefix in operator.prefixes), None)


def is_brand_of(operator: Operator, brand_name: str) -> bool:
    """Whether a brand called `brand_name` in the catalogue belongs to `operator`."""
    name = brand_name.lower()
    return any(name == brand or name.startswith(f"{brand} ") for brand in operator.brands)


def is_brand_of_another(operator: Operator, brand_name: str) -> bool:
    """Whether a brand called `brand_name` belongs to another operator, and not to `operator`."""
    return not is_brand_of(operator, brand_name) and any(is_brand_of(other, brand_name) for other in _OPERATORS)
