"""Numbers that stand for what a run with events returns, and for what events do."""

# statuses beside those of the loop
WANTED, FULL, NOT_A_NUMBER, CHATTERS, ACCUMULATES, NOT_SATISFIED, ENDED, PENETRATES = 10, 11, 12, 13, 14, 15, 16, 17
RESTITUTION, UNDECIDED, UNSEEN, ASKED, NO_ANSWER, SHARED_ANEW, CONTACTS_WANTED = 18, 19, 20, 21, 22, 23, 24

# opcodes of the elementary steps of events
SET, RELEASE, ENGAGE, STRIKE, LAND, END, ASK, DECIDE = 0, 1, 2, 3, 4, 5, 6, 7
