"""The table of roles: the stage that asks, what a role is given, what it answers, which prompt instructs it."""

from typing import Final, NamedTuple

from pydantic import BaseModel

from episodic_absa.schemas.answers import JointAnswer, RefereeAnswer
from episodic_absa.schemas.role_inputs import (
    AteInputs,
    AtsaInputs,
    JudgeInputs,
    RefereeInputs,
    ReviewInputs,
    SpeakerInputs,
    Validator2Inputs,
    ValidatorInputs,
)
from episodic_absa.schemas.seed_answers import (
    AteAnswer,
    AteReviewAnswer,
    AtsaAnswer,
    AtsaReviewAnswer,
    JudgeAnswer,
    TurnAnswer,
    Validator2Answer,
    ValidatorAnswer,
)
from episodic_absa.vocabulary import SPEAKERS, Role


class RoleSpec(NamedTuple):
    """One role."""

    stage: str
    inputs: type[AteInputs]
    answer: type[BaseModel]


ROLE_SPECS: Final[dict[Role, RoleSpec]] = {
    "ate": RoleSpec("stage1", AteInputs, AteAnswer),
    "atsa": RoleSpec("stage1", AtsaInputs, AtsaAnswer),
    "validator": RoleSpec("stage1", ValidatorInputs, ValidatorAnswer),
    **dict.fromkeys(SPEAKERS, RoleSpec("debate", SpeakerInputs, TurnAnswer)),
    "judge": RoleSpec("debate", JudgeInputs, JudgeAnswer),
    "stage2_ate": RoleSpec("stage2", ReviewInputs, AteReviewAnswer),
    "stage2_atsa": RoleSpec("stage2", ReviewInputs, AtsaReviewAnswer),
    "stage2_validator": RoleSpec("stage2", Validator2Inputs, Validator2Answer),
    "joint": RoleSpec("stage1", AteInputs, JointAnswer),
    "referee": RoleSpec("outcome", RefereeInputs, RefereeAnswer),
}
SEED_ROLES: Final[tuple[Role, ...]] = tuple(role for role in ROLE_SPECS if role not in ("joint", "referee"))
"""The roles that the original rules ask; one joint ask and the referee came later."""
