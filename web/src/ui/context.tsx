// What fills the window, and what it has cost.

import type { Conversation } from '../conversation'
import { money, tokens } from '../text/format'
import { line } from '../text/visible'
import { Dialog, useLoad, Waiting } from './dialog'

interface Usage {
  categories?: { name: string; tokens: number; kind?: string }[]
  totalTokens?: number
  maxTokens?: number
  percentage?: number
  model?: string
  memoryFiles?: { path: string; type: string; tokens: number }[]
  autoCompactThreshold?: number
}

interface Cost {
  total_cost_usd?: number
  model_usage?: Record<string, { inputTokens?: number; outputTokens?: number; cacheReadInputTokens?: number; cacheCreationInputTokens?: number; costUSD?: number }>
  [key: string]: unknown
}

export function ContextPicture({ conversation }: { conversation: Conversation }) {
  const usage = useLoad(() => conversation.read<Usage>('context'), [conversation])
  const cost = useLoad(() => conversation.read<Cost & { session?: Cost }>('cost').then((c) => c.session ?? c), [conversation])
  const u = usage.value
  const size = u?.maxTokens || 1
  const parts = (u?.categories ?? []).filter((c) => c.kind !== 'free' && c.tokens > 0).map((c) => ({ ...c, name: c.name.replace(/_/g, ' ') })).sort((a, b) => b.tokens - a.tokens)
  return (
    <Dialog title="What fills the window" wide>
      <Waiting of={usage} />
      {u ? (
        <>
          <p class="lead">
            {tokens(u.totalTokens ?? 0)} of {tokens(u.maxTokens ?? 0)} tokens <span class="faint">{Math.round(u.percentage ?? 0)} % · {line(u.model ?? '')}</span>
          </p>
          <Picture parts={parts} size={size} limit={u.autoCompactThreshold ?? 0} />
          <table class="figures">
            <caption class="sr">Parts of the window</caption>
            <tbody>
              {parts.map((p, i) => (
                <tr key={p.name}>
                  <th scope="row"><span class={`swatch s-${Math.min(i, 7)}`} aria-hidden="true" />{line(p.name)}</th>
                  <td>{tokens(p.tokens)}</td>
                  <td>{((p.tokens / size) * 100).toFixed(1)} %</td>
                </tr>
              ))}
            </tbody>
          </table>
          {u.memoryFiles?.length ? (
            <details>
              <summary>Instruction files ({u.memoryFiles.length})</summary>
              <table class="figures">
                <tbody>
                  {u.memoryFiles.map((f) => (
                    <tr key={f.path}>
                      <th scope="row"><code>{line(f.path)}</code> <span class="faint">{line(f.type)}</span></th>
                      <td>{tokens(f.tokens)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </details>
          ) : null}
        </>
      ) : null}
      <CostTable cost={cost.value} />
    </Dialog>
  )
}

// Picture is a bar of the parts; a line marks where the conversation will be summarised.
function Picture({ parts, size, limit }: { parts: { name: string; tokens: number }[]; size: number; limit: number }) {
  let x = 0
  return (
    <svg class="window" viewBox="0 0 1000 28" preserveAspectRatio="none" role="img" aria-label={parts.map((p) => `${p.name} ${Math.round((p.tokens / size) * 100)} %`).join(', ')}>
      <rect width="1000" height="28" class="track" />
      {parts.map((p, i) => {
        const w = (p.tokens / size) * 1000
        const at = x
        x += w
        return <rect key={p.name} x={at} width={Math.max(1, w - 1.5)} height="28" class={`s-${Math.min(i, 7)}`} />
      })}
      {limit > 0 && limit < size ? <rect x={(limit / size) * 1000 - 1} width="2" height="28" class="limit" /> : null}
    </svg>
  )
}

function CostTable({ cost }: { cost: Cost | undefined }) {
  const models = Object.entries(cost?.model_usage ?? {})
  if (!cost || !models.length) return null
  return (
    <section>
      <h3>Cost {cost.total_cost_usd === undefined ? '' : money(cost.total_cost_usd)}</h3>
      <table class="figures">
        <thead>
          <tr><th scope="col">Model</th><th scope="col">In</th><th scope="col">Out</th><th scope="col">Cache read</th><th scope="col">Cost</th></tr>
        </thead>
        <tbody>
          {models.map(([name, m]) => (
            <tr key={name}>
              <th scope="row">{line(name)}</th>
              <td>{tokens((m.inputTokens ?? 0) + (m.cacheCreationInputTokens ?? 0))}</td>
              <td>{tokens(m.outputTokens ?? 0)}</td>
              <td>{tokens(m.cacheReadInputTokens ?? 0)}</td>
              <td>{money(m.costUSD ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
