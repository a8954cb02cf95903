"""Public twins and contract checks for those who build channels, models and toolsets."""
