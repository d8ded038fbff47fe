// node time.mjs BIN MODEL PROMPT: prints how many milliseconds after query() the first messages came. For the bench.
import { query } from '@anthropic-ai/claude-agent-sdk'
const [bin, model, prompt] = process.argv.slice(2)
const began = performance.now(), out = {}
for await (const m of query({ prompt, options: { pathToClaudeCodeExecutable: bin, model, env: process.env } })) {
  if (m.type === 'system' && m.subtype === 'init') out.init ??= performance.now() - began
  if (m.type === 'assistant') out.first ??= performance.now() - began
}
console.log(JSON.stringify(out))
