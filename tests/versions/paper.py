"""The five example documents of Fowke, Hinze, Heese 2013, "Text categorization and similarity analysis: similarity
measure, architecture and design" (Working paper 12/2013, University of Waikato), section 9.

Documents 1 and 2 are versions, 3 and 4 are related, and 5 is on another topic.
"""

__all__ = ["DOCUMENTS"]

DOCUMENTS = (
    (
        "Tiger Woods and his wife, Elin Nordegren, are reportedly divorced. According to their lawyers it became "
        "official in Bay County Circuit Court on Monday.\n\n"
        'Woods and Nordegren have already commented on their divorce: "We are sad that our marriage is over and '
        'we wish each other the very best for the future."'
    ),
    (
        "Tiger Woods has reportedly divorced his wife Elin Nordegren. According to their lawyers it was done "
        "officially on Monday in Bay County Circuit Court.\n\n"
        'Woods and Nordegren commented already on their unfortunate divorce: "We are sad that our marriage is '
        'over and we wish each other the very best for the future."\n\n'
        "Tiger has since been linked to another Blonde woman in skier Lindey Vonn. Vonn was spotted course side "
        "during the BMW championships."
    ),
    (
        "Jason Dufner finished bogey-bogey on the two most difficult holes on the Oak Hill Country Club course in "
        "New York to claim his first major golf title at the PGA Championship on Sunday.\n\n"
        "The winning score was a 10-under 270, four shots better than the lowest score in the five previous "
        "majors at Oak Hill.\n\n"
        "Two years ago in Atlanta, the 36-year-old had blown a five-shot lead and Keegan Bradley ended up winning "
        "the title."
    ),
    (
        "The PGA championship concluded in New York on Sunday with Jason Dufner winning his first major golf "
        "trophy.\n\n"
        "Dufner won the tournament by 2 strokes over American Jim Furyk at the Oak Hill course with a leading "
        "score of 270 the best in five years.\n\n"
        "Tiger Woods finished well down the field which was frustrating for the hot favourite going into the "
        "event. It is now 5 years since Tiger won his last major title at the US open in Torrey Pines."
    ),
    (
        "People who walk to work are 40 percent less likely to develop diabetes and 17 percent less likely to "
        "develop high blood pressure than those who drive, a new study by UK researchers suggests.\n\n"
        "Of the adults who used private transport such as cars, motorbikes and taxis to get to work, 19 per cent "
        "were obese, compared to only 13 percent of those who cycled to work and 15 percent of those who walked.\n\n"
        '"This study highlights that building physical activity into the daily routine by walking, cycling or '
        'using public transport to get to work is good for personal health," states study co-author Anthony '
        "Laverty."
    ),
)
"""Documents 1 to 5."""
