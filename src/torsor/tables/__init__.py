"""Functions that are given by points. What native code reads of them (`search`) needs no CasADi."""
