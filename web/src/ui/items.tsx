// The things of a conversation, each by its kind.

import { useState } from 'preact/hooks'
import { of } from '../api'
import { kept, Store, useStore } from '../store'
import { counts } from '../text/diff'
import { duration, money, plural, tokens } from '../text/format'
import { line, tame } from '../text/visible'
import type { Call, Ending, Item, Prompt } from '../wire'
import { Icon, type IconName } from './icon'
import { Markdown } from './markdown'
import { Guard, pure } from './pure'
import { Long, Terminal, ViewOf } from './views'

export const openDiffs = new Store(kept.get('changes') !== 'folded')

export interface ItemProps {
  item: Item
  session: string
  place: number
  size: number
}

const names: Record<Item['kind'], string> = {
  prompt: 'You', reply: 'hew', thought: 'Thought', call: 'Tool', note: 'Note', command: 'Command', compaction: 'Summary', ending: 'End of the run',
}

export const ItemView = pure<ItemProps>(({ item, session, place, size }) => (
  <article
    id={`i-${item.id}`}
    data-id={item.id}
    class={`item ${item.kind}`}
    tabIndex={-1}
    aria-posinset={place}
    aria-setsize={size}
    aria-label={`${names[item.kind] ?? item.kind}${item.kind === 'call' ? `: ${line(item.title)}` : ''}`}
  >
    <Guard what="This item">{draw(item, session)}</Guard>
  </article>
))

function draw(item: Item, session: string) {
  switch (item.kind) {
    case 'prompt':
      return <PromptView item={item} session={session} />
    case 'reply':
      return (
        <div class={item.open ? 'said open' : 'said'}>
          <Markdown text={item.text} />
        </div>
      )
    case 'thought':
      return <Thought text={item.text} open={item.open} took={item.took_ms} />
    case 'call':
      return <CallView call={item} session={session} />
    case 'note':
      return (
        <p class={`line ${item.level}`}>
          <b>{item.level === 'error' ? 'Error' : item.level === 'warning' ? 'Warning' : 'Note'}</b> <span dir="auto">{tame(item.text)}</span>
        </p>
      )
    case 'command':
      return (
        <div class={item.failed ? 'ran failed' : 'ran'}>
          <p class="name">
            /{line(item.name)} <span class="faint">{line(item.args)}</span>
          </p>
          <Markdown text={item.output} />
        </div>
      )
    case 'compaction':
      return (
        <p class="seam">
          <span>
            Earlier conversation summarised, {tokens(item.before)} → {tokens(item.after)} tokens
          </span>
        </p>
      )
    case 'ending':
      return <EndingView item={item} />
  }
  return <p class="faint">Something that this page does not know ({String((item as Item).kind)}). Reload it.</p>
}

function PromptView({ item, session }: { item: Prompt; session: string }) {
  return (
    <div class="asked">
      {item.source === 'steer' ? <p class="faint">while it worked</p> : null}
      <div class="words" dir="auto">{tame(item.text)}</div>
      <Pictures session={session} id={item.id} count={item.images} />
    </div>
  )
}

function Pictures({ session, id, count }: { session: string; id: string; count: number }) {
  const [bad, setBad] = useState<number[]>([])
  if (!count) return null
  return (
    <div class="pictures">
      {Array.from({ length: Math.min(count, 20) }, (_, n) =>
        bad.includes(n) ? (
          <span key={n} class="tag">attachment {n + 1}</span>
        ) : (
          <a key={n} href={`/api${of(session)}/images/${encodeURIComponent(id)}/${n}`} target="_blank" rel="noopener">
            <img src={`/api${of(session)}/images/${encodeURIComponent(id)}/${n}`} alt={`Picture ${n + 1}`} loading="lazy" onError={() => setBad([...bad, n])} />
          </a>
        ),
      )}
    </div>
  )
}

function Thought({ text, open, took }: { text: string; open: boolean; took: number }) {
  const [shown, setShown] = useState(false)
  return (
    <div class="fold">
      <button type="button" class="head" aria-expanded={shown} onClick={() => setShown(!shown)}>
        <Icon name="thought" />
        <span class="title">{open ? 'Thinking …' : 'Thought'}</span>
        <span class="took">{duration(took)}</span>
        <Icon name="chevron" turn={shown} />
      </button>
      {shown ? (
        <div class="body thinking">
          <Markdown text={text} />
        </div>
      ) : null}
    </div>
  )
}

const acts: Record<string, IconName> = {
  read: 'file', edit: 'pencil', search: 'search', execute: 'terminal', think: 'thought', fetch: 'globe', switch_mode: 'list', other: 'bolt',
}
const states: Record<Call['status'], string> = { pending: 'waiting', running: 'running', done: 'done', failed: 'failed', refused: 'not run' }

function CallView({ call, session }: { call: Call; session: string }) {
  const unfold = useStore(openDiffs, (v) => v)
  const diff = call.view?.kind === 'diff' ? call.view : undefined
  const [chosen, setChosen] = useState<boolean>()
  const running = call.status === 'running'
  const shown = chosen ?? (running ? Boolean(call.progress) : Boolean(diff && unfold && call.status === 'done'))
  const tally = diff?.hunks ? counts(diff.hunks) : undefined
  return (
    <div class={`fold call-${call.status}`}>
      <button type="button" class="head" aria-expanded={shown} onClick={() => setChosen(!shown)}>
        {running ? <span class="spinner" aria-hidden="true" /> : <Icon name={acts[call.act] ?? 'bolt'} />}
        <span class="title" dir="ltr">{line(call.title || call.tool)}</span>
        {tally ? (
          <span class="tally" aria-hidden="true">
            <b class="plus">+{tally.added}</b> <b class="minus">−{tally.removed}</b>
          </span>
        ) : null}
        <span class={`state ${call.status}`}>{call.status === 'done' ? <span class="sr">{states.done}</span> : states[call.status]}</span>
        <span class="took">{call.took_ms > 300 ? duration(call.took_ms) : ''}</span>
        <Icon name="chevron" turn={shown} />
      </button>
      {call.within_count > 0 ? <Within call={call} /> : null}
      {shown ? <CallBody call={call} session={session} /> : null}
    </div>
  )
}

function Within({ call }: { call: Call }) {
  const hidden = call.within_count - (call.within?.length ?? 0)
  return (
    <ul class="within" aria-label="What the agent does">
      {hidden > 0 ? <li class="faint">{plural(hidden, 'earlier step')}</li> : null}
      {(call.within ?? []).map((t, i) => (
        <li key={i + hidden} dir="ltr">{line(t)}</li>
      ))}
    </ul>
  )
}

function CallBody({ call, session }: { call: Call; session: string }) {
  const alone = call.preview && call.view && call.preview.kind === call.view.kind && call.preview.kind !== 'text'
  return (
    <div class="body">
      {call.preview && !alone ? <ViewOf view={call.preview} /> : null}
      {call.view ? <ViewOf view={call.view} /> : null}
      {call.status === 'running' && call.progress ? <Terminal output={call.progress} running /> : null}
      {!call.view && call.text ? <Long text={call.text} /> : null}
      {call.view && call.status === 'failed' && call.text && call.view.kind !== 'terminal' ? <Long text={call.text} /> : null}
      <Pictures session={session} id={call.id} count={call.images ?? 0} />
      <p class="why">
        {line(call.tool)}
        {call.agent ? ` · agent ${line(call.agent)}` : ''}
        {call.why ? ` · ${line(call.why)}` : ''}
      </p>
    </div>
  )
}

const reasons: Record<string, string> = {
  completed: 'Done', aborted_streaming: 'Interrupted', aborted_tools: 'Interrupted', max_turns: 'Stopped: the limit of turns', budget_exhausted: 'Stopped: the budget is spent',
}

function EndingView({ item }: { item: Ending }) {
  const good = item.reason === 'completed'
  const parts = [duration(item.took_ms), item.tokens ? `${tokens(item.tokens)} ${item.tokens === 1 ? 'token' : 'tokens'}` : '', item.cost_usd > 0 ? money(item.cost_usd) : ''].filter(Boolean)
  return (
    <div class={good ? 'end' : 'end bad'}>
      <p>
        <span>{reasons[item.reason] ?? line(item.reason.replace(/_/g, ' '))}</span>
        {parts.map((p) => <span key={p}>{p}</span>)}
      </p>
      {item.detail && !good && reasons[item.reason] !== 'Interrupted' ? <p class="detail" dir="auto">{tame(item.detail)}</p> : null}
      {(item.signals ?? []).map((s, i) => (
        <p key={i} class="line warning">
          <b>Notice</b> {tame(s.detail)}
        </p>
      ))}
    </div>
  )
}
