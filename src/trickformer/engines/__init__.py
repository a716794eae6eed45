"""External programs that play, in any language, by the protocol of docs/engines.md over pipes."""

PROTOCOL = 1  # its version
MAX_LINE = 1 << 20  # bytes of a message
