"""Games on record: read, replayed, checked against the rules, shown and converted.

`record` is a game of Skat as this package holds it, `played` one of any other game; `iss` and `xskat` are foreign
notations of Skat, `jsonl` is our own, `files` tells them apart; `replay` plays a record of Skat by the rules, `check`
recomputes results. Importing this package loads nothing.
"""
