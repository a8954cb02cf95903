"""Permission policy: stages that turn a call and its context into a verdict."""
