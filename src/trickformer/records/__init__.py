"""Games of Skat on record: read, replayed, checked against the rules, shown and converted.

`record` is a game as this package holds it, `iss` and `xskat` are foreign notations, `jsonl` is our own, `files` tells
them apart, `replay` plays a record by the rules, `check` recomputes its result. Importing this package loads nothing.
"""
