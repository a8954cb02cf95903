"""The guard over this home: admission, approvals, policy inputs, audit log."""
