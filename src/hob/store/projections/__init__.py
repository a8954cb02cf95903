"""Tasks, spending and sessions as folds over the timeline."""
