"""External programs that play, in any language, by the protocol of docs/engines.md over pipes."""

PROTOCOL = 1  # version of the protocol
MAX_LINE = 1 << 20  # largest message in bytes
