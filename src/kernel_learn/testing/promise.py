"""How a broken promise is put into words."""


class Promise:
    """What is checked by its name, and what rounding may do."""

    def __init__(self, name: str, rtol: float) -> None:
        self.name, self.rtol = name, rtol

    def __call__(self, kept: object, promise: str, instead: str = "it does not") -> None:
        if not kept:
            raise AssertionError(f"{self.name}: {promise}, and {instead}.")
