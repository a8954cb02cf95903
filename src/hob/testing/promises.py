"""Assertion of contract checks."""


def require(holds: bool, promise: str) -> None:
    """Raise AssertionError with the promise unless it holds."""
    if not holds:
        raise AssertionError(f"broken promise: {promise}")
