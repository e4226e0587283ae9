"""Uses the memory alone, in an agent loop of your own: one read before a decision, one write after it."""

import sys

from episodic_absa import EpisodicOrchestrator, MemoryStore, load_condition
from episodic_absa.memory import DEBATE_SLOT, gate_signals, injection_for, should_inject_advisory_with_reason
from episodic_absa.schemas import absa

REVIEWS = [
    ("r1", "The battery lasts long, but the screen is too dark.", "screen"),
    ("r2", "The room was clean, but the breakfast was cold.", "breakfast"),
    ("r3", "서비스는 친절했지만 음식은 별로였어", "음식"),
    ("r4", "배송은 빨랐지만 포장은 엉망이었어", "포장"),
]


def my_agent(term: str, context: dict[str, object]) -> absa.SentimentItem:
    """Answer like any model. This one looks again only if the memory advises it."""
    if DEBATE_SLOT.name in context:
        return absa.SentimentItem(aspect_term=term, polarity="negative", confidence=0.8)
    return absa.SentimentItem(aspect_term=term, polarity="positive", confidence=0.6)


memory = EpisodicOrchestrator(load_condition("C2"), MemoryStore(*sys.argv[1:] or ["memory/episodic_store.jsonl"]))
for uid, text, term in REVIEWS:
    ate = absa.Stage1Ate(aspects=(absa.AspectItem(aspect_term=term),))
    atsa = absa.Stage1Atsa(sentiments=(my_agent(term, {}),))
    validator = absa.ValidatorOutput(structural_risks=(absa.StructuralRisk(id="r1", type="CONTRAST_SCOPE"),))
    slot, _, meta = memory.get_slot_payload_for_current_sample(text, ate, atsa, validator, None, sample_id=uid)
    gate = should_inject_advisory_with_reason(gate_signals(ate, atsa, validator))
    shown = injection_for(DEBATE_SLOT, slot, meta, gate, catalogue=memory.catalogue)
    final = my_agent(term, shown.into({"text": text}))
    outcome = absa.ReviewOutcome(aspects=ate.aspects, sentiments=(final,))
    verdict = absa.ModeratorSummary(label="positive", selected_stage="stage1", adopt_reason="low_signal")
    if final != atsa.sentiments[0]:
        verdict = absa.ModeratorSummary(label="negative", selected_stage="stage2", adopt_reason="risk_resolved")
    stage1 = absa.Stage1Result(ate=ate, atsa=atsa, validator=validator)
    memory.append_episode_if_needed(text, uid, stage1, outcome, verdict, language_code=None)
    print(uid, final.polarity, *(advisory["message"] for advisory in slot["retrieved"]), sep=" | ")
