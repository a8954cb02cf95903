"""Observations: what sessions were about, dated and by how much it matters."""
