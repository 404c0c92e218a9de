// Takes the types out of programs: one JSON line {id, code} in, one line {id, js} or {id, error} out.
// Runs without any permission. Types become blanks, so every line and column stays where it was.
import { stripTypeScriptTypes } from "node:module";

const encoder = new TextEncoder();

async function write(text) {
  let bytes = encoder.encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(await Deno.stdout.write(bytes));
}

function strip(code) {
  try {
    return { js: stripTypeScriptTypes(code, { mode: "strip" }) };
  } catch (error) {
    return { error: String(error?.message ?? error) };
  }
}

// The first strip compiles the machinery; nobody has to wait for it.
strip("const ready: boolean = true;");
await write('{"ready":true}\n');

let waiting = "";
for await (const piece of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (waiting + piece).split("\n");
  waiting = lines.pop();
  for (const line of lines) {
    const { id, code } = JSON.parse(line);
    await write(JSON.stringify({ id, ...strip(code) }) + "\n");
  }
}
