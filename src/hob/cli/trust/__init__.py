"""Commands about trust: approvals, people, pairing, policy, security, audit, accepted files."""
