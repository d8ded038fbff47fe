// Puts hew between the reference servers of the Model Context Protocol and a scripted model, and under the reference inspector.
// Usage: node run.mjs --bin PATH-OF-HEW. No network but loopback; no key; a throw-away home.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, writeFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const bin = resolve(process.argv[process.argv.indexOf("--bin") + 1]);
const packages = join(here, "node_modules", "@modelcontextprotocol");
const everything = join(packages, "server-everything", "dist", "index.js");
const filesystem = join(packages, "server-filesystem", "dist", "index.js");
const inspector = join(packages, "inspector", "cli", "build", "cli.js");

const root = mkdtempSync(join(tmpdir(), "hew-mcp-"));
const home = join(root, "home");
const proj = join(root, "proj");
mkdirSync(home);
mkdirSync(proj);
const env = { ...process.env, HOME: home, ENABLE_TOOL_SEARCH: "false", MCP_TIMEOUT: "60000" };
let failed = 0;
let passed = 0;

function check(name, ok, detail = "") {
  ok ? passed++ : failed++;
  if (!ok) console.log(`FAIL ${name} ${detail}`);
}

function run(file, args, input) {
  return new Promise((done) => {
    const p = execFile(file, args, { cwd: proj, env, timeout: 120_000, maxBuffer: 64 << 20 }, (err, stdout, stderr) => done({ code: err ? err.code ?? 1 : 0, stdout, stderr }));
    p.stdin.end(input ?? "");
  });
}

const lines = (text) => text.split("\n").filter(Boolean).map((l) => { try { return JSON.parse(l); } catch { return {}; } });

// hew runs one prompt with a scripted model that makes the calls, one after the other.
async function hew(config, calls, prompt = "go") {
  const steps = calls.map((c) => ({ reply: [{ tool: c[0], input: c[1] }] }));
  steps.push({ reply: [{ text: "done" }] });
  writeFileSync(join(proj, "script.json"), JSON.stringify({ steps }));
  const names = Object.keys(config);
  const r = await run(bin, ["-p", prompt, "--model", "script:script.json", "--mcp-config", JSON.stringify({ mcpServers: config }),
    "--allowedTools", ...names.map((n) => "mcp__" + n), "--output-format", "stream-json", "--verbose"]);
  const all = lines(r.stdout);
  const results = all.filter((m) => m.type === "user").flatMap((m) => m.message.content.filter((b) => b.type === "tool_result"));
  return { ...r, all, results, init: all.find((m) => m.subtype === "init") ?? {}, result: all.find((m) => m.type === "result") ?? {} };
}

const text = (r) => JSON.stringify(r?.content ?? "");

// What the reference server's tools are called with. Those that are not here get no input.
const inputs = {
  echo: { message: "round and round" },
  "get-sum": { a: 2, b: 40 },
  "get-annotated-message": { messageType: "success", includeImage: true },
  "get-resource-links": { count: 3 },
  "get-resource-reference": { resourceType: "Text", resourceId: 1 },
  "get-structured-content": { location: "Chicago" },
  "gzip-file-as-resource": { name: "x.gz", data: "data:text/plain;base64,aGVsbG8=", outputType: "resource" },
  "simulate-research-query": { topic: "rivers" },
  "trigger-long-running-operation": { duration: 1, steps: 3 },
};
// Tools that only say that this client cannot do what they show (tasks).
const mayFail = ["simulate-research-query"];

async function driveEverything(kind, entry) {
  const config = { ev: entry };
  const first = await hew(config, []);
  const server = (first.init.mcp_servers ?? [])[0] ?? {};
  check(`${kind}: connected`, server.status === "connected", JSON.stringify(server) + first.stderr);
  const tools = (first.init.tools ?? []).filter((t) => t.startsWith("mcp__ev__"));
  check(`${kind}: tools`, tools.length >= 10, String(tools.length));
  const used = await hew(config, tools.map((t) => [t, inputs[t.slice(9)] ?? {}]));
  tools.forEach((t, i) => {
    const r = used.results[i];
    check(`${kind}: ${t}`, r && (!r.is_error || mayFail.includes(t.slice(9))), text(r).slice(0, 300));
  });
  const at = (name) => used.results[tools.indexOf("mcp__ev__" + name)];
  check(`${kind}: echo's text`, text(at("echo")).includes("round and round"));
  check(`${kind}: sum`, text(at("get-sum")).includes("42"));
  check(`${kind}: picture`, text(at("get-tiny-image")).includes('"type":"image"'));
  check(`${kind}: roots`, text(at("get-roots-list")).includes("file://"), text(at("get-roots-list")).slice(0, 300));
  check(`${kind}: progress`, used.all.some((m) => m.type === "tool_progress" && m.tool_name.endsWith("long-running-operation")));
  const list = await hew(config, [["ListMcpResourcesTool", { server: "ev" }]]);
  const uris = [...text(list.results[0]).matchAll(/\\?"uri\\?":\\?"([^"\\]+)/g)].map((m) => m[1]);
  check(`${kind}: resources`, uris.length > 0, text(list.results[0]).slice(0, 300));
  const read = await hew(config, uris.map((u) => ["ReadMcpResourceTool", { server: "ev", uri: u }]));
  uris.forEach((u, i) => check(`${kind}: resource ${u}`, read.results[i] && !read.results[i].is_error, text(read.results[i]).slice(0, 200)));
  const prompts = (first.init.slash_commands ?? []).filter((c) => c.startsWith("mcp__ev__"));
  check(`${kind}: prompts`, prompts.length >= 3, String(prompts));
  const args = { "args-prompt": "Paris France", "completable-prompt": "Engineering Alice", "resource-prompt": "Text 1" };
  for (const p of prompts) {
    const r = await hew(config, [], `/${p} ${args[p.slice(9)] ?? ""}`);
    check(`${kind}: /${p}`, r.result.result === "done", JSON.stringify(r.result).slice(0, 300));
  }
}

async function freePort() {
  return new Promise((done) => {
    const s = createServer().listen(0, "127.0.0.1", () => {
      const { port } = s.address();
      s.close(() => done(port));
    });
  });
}

async function reachable(port) {
  for (let i = 0; i < 200; i++) {
    try {
      await fetch(`http://127.0.0.1:${port}/`);
      return;
    } catch {
      await new Promise((r) => setTimeout(r, 50));
    }
  }
  throw new Error("the reference server did not start");
}

async function served(kind, path, type) {
  const port = await freePort();
  const p = spawn("node", [everything, kind], { env: { ...env, PORT: String(port) }, stdio: "ignore" });
  try {
    await reachable(port);
    await driveEverything(kind, { type, url: `http://127.0.0.1:${port}${path}` });
  } finally {
    p.kill();
  }
}

async function driveFilesystem() {
  writeFileSync(join(proj, "note.txt"), "a note\n");
  const entry = { fs: { command: "node", args: [filesystem, proj] } };
  const first = await hew(entry, []);
  const tools = (first.init.tools ?? []).filter((t) => t.startsWith("mcp__fs__"));
  check("filesystem: tools", tools.length >= 10, String(tools.length));
  const note = join(proj, "note.txt");
  const made = join(proj, "made.txt");
  const r = await hew(entry, [
    ["mcp__fs__read_text_file", { path: note }],
    ["mcp__fs__write_file", { path: made, content: "one\ntwo\n" }],
    ["mcp__fs__edit_file", { path: made, edits: [{ oldText: "two", newText: "three" }] }],
    ["mcp__fs__read_multiple_files", { paths: [note, made] }],
    ["mcp__fs__list_directory", { path: proj }],
    ["mcp__fs__directory_tree", { path: proj }],
    ["mcp__fs__search_files", { path: proj, pattern: "*.txt" }],
    ["mcp__fs__get_file_info", { path: made }],
    ["mcp__fs__move_file", { source: made, destination: join(proj, "moved.txt") }],
    ["mcp__fs__list_allowed_directories", {}],
    ["mcp__fs__read_text_file", { path: "/etc/hostname" }],
  ]);
  r.results.slice(0, 10).forEach((x, i) => check(`filesystem: call ${i + 1}`, !x.is_error, text(x).slice(0, 300)));
  check("filesystem: contents", text(r.results[3]).includes("three"));
  check("filesystem: outside", r.results[10]?.is_error === true, text(r.results[10]));
}

async function driveInspector() {
  const inspect = async (...args) => {
    const r = await run("node", [inspector, "--cli", bin, "mcp", "serve", "--allowedTools", "Bash(echo *)", ...args]);
    try {
      return JSON.parse(r.stdout);
    } catch {
      return { raw: r.stdout + r.stderr };
    }
  };
  const list = await inspect("--method", "tools/list");
  const names = (list.tools ?? []).map((t) => t.name);
  for (const want of ["Bash", "Read", "Edit", "Write", "Grep", "Glob"]) check(`inspector: ${want} is offered`, names.includes(want), JSON.stringify(list).slice(0, 300));
  check("inspector: schemas", (list.tools ?? []).every((t) => t.inputSchema?.type === "object" && t.description));
  const call = (name, ...args) => inspect("--method", "tools/call", "--tool-name", name, ...args.flatMap((a) => ["--tool-arg", a]));
  const note = join(proj, "note.txt");
  check("inspector: Read", JSON.stringify(await call("Read", `file_path=${note}`)).includes("a note"));
  check("inspector: Bash by a rule", JSON.stringify(await call("Bash", "command=echo from the inspector")).includes("from the inspector"));
  const refused = await call("Bash", "command=touch never");
  check("inspector: Bash without one", refused.isError === true, JSON.stringify(refused));
  check("inspector: Grep", JSON.stringify(await call("Grep", "pattern=a note")).includes("note.txt"));
}

try {
  await driveEverything("stdio", { command: "node", args: [everything, "stdio"] });
  await served("sse", "/sse", "sse");
  await served("streamableHttp", "/mcp", "http");
  await driveFilesystem();
  await driveInspector();
} finally {
  rmSync(root, { recursive: true, force: true });
}
console.log(`mcp: ${passed} checks passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
