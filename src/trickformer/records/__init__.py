"""Games on record: reading, replay, check against the rules, display and conversion.

`skat.record` defines the record of a game of Skat, `played` the record of any other game. `skat.iss`, `skat.xskat` and
`hanab_live` read the notations of other programs, `jsonl` reads ours, and `files` detects the notation. `skat.replay`
plays a record of Skat by the rules, and `check` recomputes results. Importing this package loads none of the modules.
"""
