"""Games on record: read, replayed, checked against the rules, shown and converted.

`skat.record` is a game of Skat as this package holds it, `played` one of any other game. `skat.iss`, `skat.xskat` and
`hanab_live` are notations of other programs, `jsonl` is our own, and `files` recognises them. `skat.replay` plays a
record of Skat by the rules, and `check` recomputes results. Importing this package loads nothing.
"""
