"""ER1: a service that stores and transcribes what its apps record."""
