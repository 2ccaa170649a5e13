from setuptools import setup

setup(cffi_modules=["build_redlocks.py:for_setup"])
