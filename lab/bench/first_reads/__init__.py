"""First reads of a process: what a page costs when the process knows nothing of its reader.

With many web processes most reads are like this. No two readers follow the same author, so no
reader warms the process for another one.
"""
