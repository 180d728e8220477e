"""Attacks on stores, folders and engines, drawn from seeds: `test_attacks.py` runs some, `scripts/faults.py` many.

attack.py    what an attack is, and how a command must behave under one
folders.py   on whoever indexes a folder: its names, its links, its files
local.py     on a store on disk: flipped bits, killed commands
attached.py  on the way to an engine, on commands for an application's index
engines.py   on the way to an engine: writes that are lost, late or sent twice
"""
