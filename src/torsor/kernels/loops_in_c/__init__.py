"""Compiled loops written in C99, from their LLVM code."""
