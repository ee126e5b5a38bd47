"""Made-up posts. The same seed gives the same post."""

import random
from collections.abc import Sequence

SENTENCES = [
    "{time}, {weather}. {walk} {place}, {company}.",
    "{made} {dish} {occasion}. {verdict}",
    "Spent {time_span} {hobby}. {verdict}",
    "{question}",
    "Reading {book} {where}. {opinion}",
    "{animal} {did} {place} {when}. {feeling}",
    "Note to self: {advice}.",
    "{company_start} and I {went} {place}. {weather_start}, {feeling_small}.",
    "Today's small victory: {victory}.",
    "{machine} {trouble}, so I {fix}. {verdict}",
]

WORDS: dict[str, Sequence[str]] = {
    "time": ["Early train", "First light", "Late lunch", "Slow Sunday", "Half past six", "Dusk"],
    "weather": [
        "fog over the river", "a sky like wet slate", "the first warm wind of the year",
        "rain on the tin roof", "frost on every fence", "clouds in a great hurry",
    ],
    "weather_start": [
        "Rain on and off", "Bright and cold", "Not a breath of wind", "Fog until noon",
        "Sun at last", "Thunder far away",
    ],
    "walk": [
        "Walked all the way to", "Took the long way round by", "Sat a while at", "Cycled out to",
        "Came home past", "Drew a bad sketch of",
    ],
    "place": [
        "the old harbour", "the allotments", "the lighthouse", "the market square",
        "the railway bridge", "the botanical garden", "the reservoir", "the pine wood",
        "the observatory hill", "the ferry landing", "the mill pond", "the tram depot",
    ],
    "company": [
        "no other soul about", "with a thermos and no plan", "a heron for company",
        "humming the whole time", "and met half the street", "camera left at home, of course",
    ],
    "company_start": ["My sister", "The neighbour's dog", "A friend", "Grandfather", "The kids"],
    "made": ["Baked", "Tried my hand at", "Finally made", "Burnt, then rescued,", "Shared"],
    "dish": [
        "plum cake", "flatbread", "a pot of lentil soup", "apple dumplings", "rye bread",
        "pickled beetroot", "a lemon tart", "mushroom noodles",
    ],
    "occasion": [
        "for the whole stairwell", "for no reason at all", "from a recipe with no quantities",
        "to use up what was there", "for a birthday of twelve", "before anybody was up",
    ],
    "verdict": [
        "Would do it again.", "No complaints at all.", "Better than it had any right to be.",
        "Next time with more patience.", "Worth every minute.", "I have learned nothing.",
        "Ten out of ten.", "It nearly worked.",
    ],
    "time_span": [
        "the whole morning", "two evenings", "an hour I did not have", "a very long weekend",
        "most of the night",
    ],
    "hobby": [
        "re-binding a dictionary", "sorting buttons by colour", "learning the accordion",
        "tuning the old radio", "mapping every bench in town", "repotting the ferns",
        "fixing a bicycle older than I am", "writing letters by hand",
    ],
    "question": [
        "Which bird sings at four in the morning, and why so loudly?",
        "What is the best thing you have ever found in a library book?",
        "Does anybody still send postcards? I have forty and no addresses.",
        "Tea before or after the walk? The household is divided.",
        "What do you cook when there is nothing in the house?",
        "Is there a word for the quiet after snow?",
        "Who decided that Mondays come every week?",
        "What was the last thing you repaired instead of replacing?",
    ],
    "book": [
        "a history of salt", "letters from a lighthouse keeper", "a very thick novel",
        "poems, two a day", "a manual for a machine I do not own", "an atlas from 1910",
    ],
    "where": [
        "on the tram", "in the bath", "under the pear tree", "by candle, the power is out",
        "at the laundromat", "on the balcony",
    ],
    "opinion": [
        "No idea where it is going and I love it.", "Chapter three is the one.",
        "The footnotes are the best part.", "I keep reading the same page.",
        "Recommended.", "Please do not tell me how it ends.",
    ],
    "animal": ["Two swans", "A very small owl", "The fox", "A hedgehog", "Some forty starlings"],
    "did": ["crossed", "took over", "inspected", "slept in", "sang above", "held a meeting at"],
    "when": ["this morning", "at dusk", "while I waited", "during the storm", "again today"],
    "feeling": [
        "Made my day.", "No one else looked up.", "I stayed for ages.", "A good omen, surely.",
        "We nodded at each other.",
    ],
    "feeling_small": [
        "and neither of us minded", "and it was the best part of the week", "as it should be",
        "and we laughed all the way back", "and we got lost twice",
    ],
    "went": ["walked to", "raced to", "got lost near", "had breakfast at", "painted"],
    "advice": [
        "soup needs salt earlier than you think", "never trust a forecast from a stranger",
        "oil the hinge before it squeaks", "take the umbrella", "call back the same day",
        "label the jars", "measure twice, then measure again", "sleep first, answer later",
    ],
    "victory": [
        "the drawer closes", "all socks paired", "inbox empty for eleven minutes",
        "the sourdough rose", "three pull-ups", "found the other glove",
        "said no to a meeting", "parallel parked, first try",
    ],
    "machine": ["The washing machine", "My bicycle", "The radio", "The printer", "The old clock"],
    "trouble": ["gave up", "makes a new noise", "wants attention again", "stopped at noon"],
    "fix": [
        "took it apart on the kitchen table", "asked a forum and got poetry",
        "hit it in exactly the right place", "gave it a new belt and a talking-to",
        "went for a walk instead",
    ],
}  # fmt: skip


# The tag of each sentence. One post in TAGGED has it.
TAGS = ["walks", "kitchen", "hobbies", "question", "books", "animals", "advice", "friends",
        "victories", "repair"]  # fmt: skip
TAGGED = 4


def made_up_note(seed: str) -> str:
    """What a made-up person says about themselves."""
    chance = random.Random(seed)
    hobby, dish, advice = (chance.choice(WORDS[blank]) for blank in ("hobby", "dish", "advice"))
    return f"Mostly {hobby}, and {dish} on Sundays. I say: {advice}."


def made_up_text(seed: str) -> str:
    """A post of one to three sentences with less than 200 characters. Some have a tag."""
    chance = random.Random(seed)
    chosen = {blank: chance.choice(words) for blank, words in WORDS.items()}
    number = chance.randrange(len(SENTENCES))
    text = SENTENCES[number].format_map(chosen)
    return text if chance.randrange(TAGGED) else f"{text} #{TAGS[number]}"
