// A visitor made of one of the official TypeScript clients: `node visitor.mjs URL MODE`. It reads one JSON array for each
// line of its standard input, [what, ...arguments], does that, and answers with one line, {"said": …} or {"error": …}.
// MODE is "v1" for the first generation of the SDK, or what the second is to negotiate: "legacy", "auto" or a revision.
import { createInterface } from "node:readline";

const [url, mode] = process.argv.slice(2);
const heard = new Set();
let came = () => {};
const hear = (word) => (heard.add(word), came());
const who = { name: "space-visit", version: "1" };

let client;
if (mode === "v1") {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const types = await import("@modelcontextprotocol/sdk/types.js");
  client = new Client(who);
  client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => hear("tools"));
  client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, (message) => hear(message.params.uri));
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  client.getNegotiatedProtocolVersion ??= () => transport.protocolVersion;
} else {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const negotiated = mode === "legacy" || mode === "auto" ? mode : { pin: mode };
  client = new Client(who, { versionNegotiation: { mode: negotiated } });
  client.setNotificationHandler("notifications/tools/list_changed", () => hear("tools"));
  client.setNotificationHandler("notifications/resources/updated", (message) => hear(message.params.uri));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
}
// Streams that break off are told here; the visit sees what comes of them.
client.onerror = () => {};

const text = (parts) => parts.map((part) => part.text ?? "").join("");
let begun;

const doing = {
  version: () => client.getNegotiatedProtocolVersion(),
  tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
  call: async (name, given) => {
    const result = await client.callTool({ name, arguments: given });
    if (result.isError) throw new Error(text(result.content));
    return text(result.content);
  },
  begin: (name, given) => {
    const aborting = new AbortController();
    const options = { signal: aborting.signal };
    // The first generation has the schema of the result between the call and its options.
    const call = mode === "v1" ? [{ name, arguments: given }, undefined, options] : [{ name, arguments: given }, options];
    const ended = client.callTool(...call).then(() => "answered", () => "given up");
    begun = { aborting, ended };
  },
  cancel: async () => {
    begun.aborting.abort("no longer needed");
    const end = await begun.ended;
    if (end !== "given up") throw new Error(`the call that was cancelled was ${end}`);
  },
  prompts: async () => (await client.listPrompts()).prompts.map((prompt) => prompt.name),
  prompt: async (name) => text((await client.getPrompt({ name })).messages.map((message) => message.content)),
  read: async (uri) => text((await client.readResource({ uri })).contents),
  watch: async (uri) => {
    if (client.getNegotiatedProtocolVersion() < "2026") await client.subscribeResource({ uri });
    else await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] });
  },
  told: async (word, seconds) => {
    const late = AbortSignal.timeout(seconds * 1000);
    while (!heard.has(word)) {
      if (late.aborted) throw new Error(`no word of ${word} came; there was word of ${[...heard]}`);
      await new Promise((resolve) => {
        came = resolve;
        late.addEventListener("abort", resolve);
      });
    }
    heard.delete(word);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [what, ...given] = JSON.parse(line);
  let answer;
  try {
    answer = { said: (await doing[what](...given)) ?? null };
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await client.close();
process.exit(0);
