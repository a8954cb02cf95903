"""ER1: a service that keeps what its apps record, transcribed."""
