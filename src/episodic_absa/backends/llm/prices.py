"""The cost of an answer, from the price list that ships with pydantic-ai. No network access."""

from typing import TYPE_CHECKING

from episodic_absa.backends.llm.llm_connection import LlmConnection

if TYPE_CHECKING:
    from pydantic_ai.usage import RequestUsage


def cost_usd(connection: LlmConnection, usage: "RequestUsage", model: str) -> float | None:
    """Return the price in US dollars, or None for a model or server without a listed price."""
    if connection.is_local:
        return None
    from genai_prices import calc_price

    try:
        if connection.host == "other":
            price = calc_price(usage, model, provider_api_url=connection.base_url)
        else:
            price = calc_price(usage, model, provider_id=connection.host)
    except LookupError:
        return None
    return float(price.total_price)
