"""How contract checks say what does not hold."""


def require(holds: bool, promise: str) -> None:
    """Raises AssertionError where a promise is broken."""
    if not holds:
        raise AssertionError(f"broken promise: {promise}")
