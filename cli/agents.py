"""`space agents`: the agents there are, how each is composed, and copies of them that are the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from cli.answers import Agent, AgentRow, Agents
from cli.client import EngineClient, segment
from cli.console import note, print_facts, print_json, print_table, say
from cli.failure import CommandFailedError
from cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, engine_at, lists_itself

PATH = "/api/agents"
COLUMNS = ("agent", "name", "mode", "tools", "from", "usable")

AgentId = Annotated[str, typer.Argument(metavar="ID", help="The agent's id; `space agents` lists them.")]


def list_agents(
    context: typer.Context, url: UrlOption = DEFAULT_URL, token: TokenOption = None, as_json: JsonOption = False
) -> None:
    """List the agents, or look at, copy or remove one."""
    if not lists_itself(context):
        return
    with engine_at(url, token, as_json=as_json) as engine:
        answer = engine.ask(Agents, "GET", PATH)
    if as_json:
        print_json(answer.raw)
        return
    agents = answer.value
    print_table(None, COLUMNS, [_row(agent) for agent in agents.agents])
    for agent in agents.agents:
        if not agent.usable:
            note(_why_unusable(agent))
    for problem in agents.problems:
        note(problem)
    if agents.default_problem is not None:
        note(f"Clients that name no agent get none: {agents.default_problem}")


def show(
    agent_id: AgentId,
    sdk: Annotated[bool, typer.Option("--sdk", help="Print the SDK that its programs are written against.")] = False,
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Print the instructions that its clients get at the start.")
    ] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how an agent is composed, how its tools are presented, and which it has now."""
    if sdk and prompt:
        raise typer.BadParameter("--sdk and --prompt are two texts; ask for one of them")
    with engine_at(url, token, as_json=as_json) as engine:
        path = f"{PATH}/{segment(agent_id)}"
        if sdk or prompt:
            text = engine.fetch(f"{path}/{'sdk' if sdk else 'prompt'}", "text/plain", {}).decode("utf-8", "replace")
            if as_json:
                print_json({"agent": agent_id, "sdk" if sdk else "prompt": text})
            else:
                say(text.removesuffix("\n"))
            return
        answer = engine.ask(Agent, "GET", path)
    if as_json:
        print_json(answer.raw)
    else:
        _print(answer.value)


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The agent to begin with.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The id of the copy: small letters, digits and '-'.")],
    name: Annotated[str | None, typer.Option("--name", show_default="its id", help="What the copy is called.")] = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy an agent into a folder of your own, to change it there."""
    body = {"from": source, "id": new} if name is None else {"from": source, "id": new, "name": name}
    with engine_at(url, token, as_json=as_json) as engine:
        answer = engine.ask(AgentRow, "POST", PATH, body=body)
    if as_json:
        print_json(answer.raw)
        return
    say(f"Copied {source} to {answer.value.path}")
    if not answer.value.usable:
        note(_why_unusable(answer.value))


def remove(
    agent_id: AgentId, url: UrlOption = DEFAULT_URL, token: TokenOption = None, as_json: JsonOption = False
) -> None:
    """Remove an agent of your own, with its folder. It does not come back."""
    with engine_at(url, token, as_json=as_json) as engine:
        answer = engine.ask(AgentRow, "DELETE", f"{PATH}/{segment(agent_id)}")
    if as_json:
        print_json(answer.raw)
    else:
        say(f"Removed {answer.value.id} ({answer.value.path}).")


def usable_agent(engine: EngineClient, agent_id: str) -> str:
    """The agent's present id. Raises `RefusedError` where there is none, `CommandFailedError` where it is unusable."""
    agent = engine.ask(Agent, "GET", f"{PATH}/{segment(agent_id)}").value
    if not agent.usable:
        raise CommandFailedError(_why_unusable(agent), "List them with: space agents")
    return agent.id


def _row(agent: AgentRow) -> tuple[str, str | None, str | None, int, str, str]:
    usable = "no" if not agent.usable else "yes (default)" if agent.default else "yes"
    return (agent.id, _in_english(agent.names), agent.mode, len(agent.tools), agent.trust, usable)


def _print(agent: Agent) -> None:
    print_facts(
        None,
        [
            ("agent", agent.id),
            ("name", _in_english(agent.names)),
            ("description", _in_english(agent.descriptions)),
            ("folder", agent.path),
            ("from", agent.trust),
            ("default", agent.default),
            ("mode", agent.mode),
            ("chosen by", agent.mode_source),
            ("unusable", None if agent.unusable is None else _why_unusable(agent)),
            ("prompt blocks", ", ".join(agent.prompt_blocks)),
            ("tools now", ", ".join(agent.tools)),
            ("may do now", ", ".join(agent.capabilities)),
        ],
    )
    if agent.composition.text is not None:
        say(f"\ncomposition.yml:\n\n{agent.composition.text.rstrip()}")


def _why_unusable(agent: AgentRow) -> str:
    if agent.unusable is None:
        return f"agent {agent.id!r} is unusable"
    number, reason = agent.unusable.row, agent.unusable.reason
    # Most reasons name the row themselves, with its kind.
    row = "" if number is None or f"row {number} " in reason else f", row {number}"
    return f"agent {agent.id!r} is unusable: {agent.unusable.file}{row}: {reason}"


def _in_english(texts: Mapping[str, str]) -> str | None:
    """The text in English, the language of this command, else in any."""
    return texts.get("en") or next(iter(texts.values()), None)
