"""One agent's conversation with its model, from the prompt to the last word. Owns the steps: ask, run tools, ask again.

What was said on both sides is in it at any time, also when it was cancelled or has failed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from actors.chat import ChatAnswer, ChatMessage, ChatRequest, Piece, ReasoningPiece, Retrying, TextPiece, Usage
from actors.model_client import ModelClient, ModelEndpoint
from actors.run_events import STEPS, AskedAgain, Planned, RunEvent, Said, Started, Thought, ToolAnswered, ToolCalled
from actors.story_tools import StoryTools
from blocks.compile_agent_context import CompiledContext
from blocks.model_resolution import ResolvedModel
from engine.errors import ConflictError

MOST_STEPS = 10
"""Answers of the model in one exchange, unless the story says otherwise. Each but the last asks for tools."""

CONTEXT_READ = "I have read this."
"""What stands between the context and a conversation, since many models want the two sides to take turns."""

Emit = Callable[[RunEvent], Awaitable[object]]


class Exchange:
    """One exchange. `messages` begins with the `prompt_messages` that were sent first."""

    def __init__(
        self,
        agent: str,
        model: ResolvedModel,
        compiled: CompiledContext,
        tools: StoryTools,
        conversation: tuple[ChatMessage, ...] = (),
        most_steps: int = MOST_STEPS,
    ) -> None:
        """Raises `ConflictError` for a prompt in which the model is asked nothing."""
        self.agent = agent
        self.model = model
        self._compiled = compiled
        self._tools = tools
        self._chat_tools = StoryTools.for_chat(compiled.tools)
        self._most_steps = most_steps
        self.messages = _opening(agent, compiled, conversation)
        self.prompt_messages = len(self.messages)
        self.steps = 0
        self.usage: Usage | None = None
        self.retries: list[str] = []
        self._texts: list[str] = []
        self._unfinished: list[str] = []

    @property
    def text(self) -> str:
        """What the model has said in its finished answers, a blank line between them."""
        return "\n\n".join(self._texts)

    def started(self, run_id: str) -> Started:
        """The event with which it begins."""
        return Started(
            run_id=run_id,
            agent=self.agent,
            provider_id=self.model.provider_id,
            model_id=self.model.model_id,
            tools=tuple(tool.name for tool in self._chat_tools),
            tokens=self._compiled.report.tokens,
            passed_over=tuple(map(str, self.model.passed_over)),
            script_errors=tuple(f"{one.name}: {one.message}" for one in self._compiled.report.script_errors),
        )

    async def carry_out(self, client: ModelClient, emit: Emit, said: type[Said | Planned] = Said) -> str:
        """Talk until the model has nothing more to ask; gives the reason of the end. `said` wraps its words.

        Raises `ProviderError`. Every step adds to what is here.
        """
        endpoint = ModelEndpoint.of(self.model.provider)
        while True:
            request = ChatRequest(
                model=self.model.model_id,
                messages=tuple(self.messages),
                tools=self._chat_tools,
                temperature=self.model.temperature,
            )
            self.steps += 1
            self._unfinished = []

            async def take(piece: Piece) -> None:
                await emit(self._event(piece, said))

            answer = await client.complete(endpoint, request, take)
            self._take(answer)
            if not answer.tool_requests:
                return answer.finish_reason
            await self._run_tools(answer, emit)
            if self.steps >= self._most_steps:
                return STEPS

    def to_json(self) -> dict[str, Any]:
        """What was sent and what came back, for the record."""
        return {
            "agent": self.agent,
            "providerId": self.model.provider_id,
            "providerName": self.model.provider.name,
            "modelId": self.model.model_id,
            "temperature": self.model.temperature,
            "foundIn": self.model.found_in,
            "passedOver": [str(one) for one in self.model.passed_over],
            "stepCount": self.steps,
            "usage": None if self.usage is None else self.usage.to_json(),
            "retries": self.retries,
            "prompt": self._compiled.report.to_json(),
            "tools": [tool.to_json() for tool in self._chat_tools],
            "promptMessages": self.prompt_messages,
            "messages": [message.to_json() for message in self.messages],
            "cutOff": "".join(self._unfinished) or None,
        }

    def _event(self, piece: Piece, said: type[Said | Planned]) -> RunEvent:
        match piece:
            case TextPiece(text):
                # What is heard is what is kept: answers stand apart.
                between = "\n\n" if self._texts and not self._unfinished else ""
                self._unfinished.append(text)
                return said(between + text)
            case ReasoningPiece(text):
                return Thought(text)
            case Retrying(reason, seconds):
                self.retries.append(reason)
                return AskedAgain(reason, seconds)

    def _take(self, answer: ChatAnswer) -> None:
        self._unfinished = []
        self.messages.append(ChatMessage("assistant", answer.text, answer.tool_requests))
        if answer.text.strip():
            self._texts.append(answer.text)
        if answer.usage is not None:
            self.usage = answer.usage if self.usage is None else self.usage + answer.usage

    async def _run_tools(self, answer: ChatAnswer, emit: Emit) -> None:
        offered = [tool.name for tool in self._chat_tools]
        for request in answer.tool_requests:
            await emit(ToolCalled(request.id, request.name, request.arguments))
            result = await self._tools.call(request.name, request.arguments, offered)
            self.messages.append(ChatMessage("tool", result.text, tool_call_id=request.id))
            await emit(ToolAnswered(request.id, request.name, result.text, result.is_error))


def _opening(agent: str, compiled: CompiledContext, conversation: tuple[ChatMessage, ...]) -> list[ChatMessage]:
    prompt = [ChatMessage(message.role, message.content) for message in compiled.messages]
    if prompt and conversation and prompt[-1].role == "user" and conversation[0].role == "user":
        prompt.append(ChatMessage("assistant", CONTEXT_READ))
    messages = [*prompt, *conversation]
    if not messages or messages[-1].role != "user":
        raise ConflictError(
            f"the prompt of {agent!r} asks nothing: it has no user message. Switch on one of its user blocks, or give "
            "`messages`"
        )
    return messages
