"""Attacks on stores, folders and engines, chosen at random from a seed.

`test_attacks.py` runs a few of them, `scripts/faults.py` as many as you want.

attack.py        defines an attack, and runs commands under it
folders.py       hostile names, links and files in an indexed folder
local.py         damage to a local store, and killed commands
pairs.py         two commands at once on a folder and its store
engines.py       an engine that loses, delays or repeats requests
attached.py      such an engine, with an application's index
engine_pairs.py  two commands at once on an application's index
"""
