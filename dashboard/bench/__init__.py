"""The benchmarks behind `manage.py bench`: one module each, on servers of their own that are thrown away afterwards.

Absolute figures belong to the machine they were measured on, which the answer names. Ratios are taken within one
run, with what is compared in turn, so that noise meets both sides alike.
"""
