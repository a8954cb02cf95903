"""The dashboard on phones: a listener with TLS where the owner wants one, and the certificates for it."""
