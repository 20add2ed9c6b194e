"""Methods: tableaus and other steps, the control of their error, and what keeps them on constraints."""
