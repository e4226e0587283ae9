"""The table of roles: what a role is given, what it answers, which prompt instructs it."""

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

    inputs: type[AteInputs]
    answer: type[BaseModel]


ROLE_SPECS: Final[dict[Role, RoleSpec]] = {
    "ate": RoleSpec(AteInputs, AteAnswer),
    "atsa": RoleSpec(AtsaInputs, AtsaAnswer),
    "validator": RoleSpec(ValidatorInputs, ValidatorAnswer),
    **dict.fromkeys(SPEAKERS, RoleSpec(SpeakerInputs, TurnAnswer)),
    "judge": RoleSpec(JudgeInputs, JudgeAnswer),
    "stage2_ate": RoleSpec(ReviewInputs, AteReviewAnswer),
    "stage2_atsa": RoleSpec(ReviewInputs, AtsaReviewAnswer),
    "stage2_validator": RoleSpec(Validator2Inputs, Validator2Answer),
    "joint": RoleSpec(AteInputs, JointAnswer),
    "referee": RoleSpec(RefereeInputs, RefereeAnswer),
}
SEED_ROLES: Final[tuple[Role, ...]] = tuple(role for role in ROLE_SPECS if role not in ("joint", "referee"))
"""The roles that the original rules ask; one joint ask and the referee came later."""
