"""Actions with an elementary step of their own, in compiled code: one file each."""
