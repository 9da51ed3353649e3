"""Package marker; the contents are described in docs/architecture.md."""
