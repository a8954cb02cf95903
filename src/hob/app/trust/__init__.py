"""The guard over this home: admission, approvals, what the policy is given, the audit log."""
