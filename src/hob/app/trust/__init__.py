"""The guard of a home: admission, approvals, policy inputs, audit log."""
