"""The SDK of programs: tools as TypeScript declarations, for the checker and for the model's prompt. Never does I/O."""

from presets.sdk.sdk import Sdk, SdkBudget, SdkLevel
from presets.sdk.search import describe, search, search_names
from presets.sdk.tool import RenderedTool, SdkTool

__all__ = ["RenderedTool", "Sdk", "SdkBudget", "SdkLevel", "SdkTool", "describe", "search", "search_names"]
