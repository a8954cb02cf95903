"""Trust commands: approvals, people, pairing, policy, security, audit, accepted files."""
