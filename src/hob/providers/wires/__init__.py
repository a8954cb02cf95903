"""The protocols of model servers, one folder each."""
