"""The lit suite `colrow-unit`: the GoogleTest programs build/bin/*-tests, case by case.

A program sees COLROW_FULL=1 under run-tests --full and GTEST_SKIPs its slow cases otherwise.
"""
import os

import lit.formats

config.name = "colrow-unit"
config.test_source_root = os.path.join(config.colrow_build, "bin")
config.test_exec_root = config.test_source_root
config.test_format = lit.formats.GoogleTest(".", "-tests")
config.environment["COLROW_FULL"] = os.environ.get("COLROW_FULL", "0")
