"""What every refusal has in common: nothing was done, and the text says why to the person who asked."""


class Refused(Exception):
    """The parent of every refusal that a person reads; each room names its own."""
