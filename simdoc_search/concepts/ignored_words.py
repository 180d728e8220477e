"""English words that say nothing about what a text is about: no part of a concept, and no name begins with them.

Days and months are among them: documents of one day are not related for that.
"""

from __future__ import annotations

_WORDS = """
    a about above after again all also although always an and another any are as at back be because been before being
    below between both but by can could de del der des did do does du each either every few first for from had has have
    having he her here hers him his how however i if in indeed instead into is it its just la last later le least less
    let like many may maybe me meanwhile might more moreover most much must my never nevertheless next no nor not
    nothing now of often on once one only or other our out over perhaps please same second see shall she should since so
    some still such than that the their them then there therefore these they third this those though through thus to
    today too two under unless until up upon us van very von was we well were what when where whether which while who
    whom whose why will with within without would yes yesterday yet you your
    monday tuesday wednesday thursday friday saturday sunday
    january february march april june july august september october november december
"""

LITTLE = frozenset(_WORDS.split())
