"""Off-belief learning (OBL), from "Off-Belief Learning" (Hu, Lerer, Cui, Pineda, Brown, Foerster 2021).

A policy is trained as if a fixed other policy had made all moves so far. The modules compute OBL and cognitive
hierarchies exactly on games whose tree can be listed, and learn OBL in tables. `obl.hanabi` trains networks on Hanabi.
"""
