"""Removes duplicate rows from whole datasets: Parquet, JSONL, CSV and Arrow files, folders of them, and data frames.

run.py           `deduplicate_files`: from files to files
in_memory.py     `deduplicate`: the same for tables and data frames in memory
frames.py        reads tables, data frames and lists
options.py       the options of a run
formats.py       file formats and compression
shards.py        the shards of a dataset
records.py       raw records of JSONL and CSV files
arrow_files.py   Parquet and Arrow IPC files
conversion.py    converts rows to the format of the output
columns.py       finds the text column
chunks.py        chunks of rows that are sent to worker processes
descriptions.py  describes duplicates in columns
rows.py          stores the sketches (hashes) of all rows, so that an interrupted run can be resumed
sketching.py     reads the texts, and computes the sketches of rows in worker processes
decontamination.py  finds rows that share a run of words with an evaluation set
saved_rows.py    saves the kept rows for a later run
ranking.py       the order in which rows are preferred
grouping.py      finds the kept row of each duplicate
text_writer.py   writes Arrow record batches as JSONL or CSV
output.py        writes the kept rows, or all rows with the columns that describe duplicates
pair_file.py     writes the pairs of duplicates and kept rows
page.py          writes an HTML page with the groups
work_folder.py   the progress of a run, to resume it
report.py        the result of a run
arrow_functions.py  sketches and band keys of Arrow record batches, for Spark and other engines
arrow_pairs.py   pairs of Arrow record batches, and their verification
"""

from simdoc_search.dedupe.in_memory import deduplicate
from simdoc_search.dedupe.options import DedupeOptions
from simdoc_search.dedupe.report import DedupeReport
from simdoc_search.dedupe.run import deduplicate_files

__all__ = ["DedupeOptions", "DedupeReport", "deduplicate", "deduplicate_files"]
