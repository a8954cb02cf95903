"""The guard: admission, policy, approvals, screening, shell commands, audit."""
