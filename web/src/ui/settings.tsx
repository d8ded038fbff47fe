// Settings and rules in force, with where each comes from; and the few that are this browser's own.

import { useState } from 'preact/hooks'
import type { Conversation } from '../conversation'
import { kept, useStore } from '../store'
import { line } from '../text/visible'
import { Dialog, useLoad, Waiting } from './dialog'
import { openDiffs } from './items'
import { Exact } from './views'

interface Setting {
  key: string
  value: unknown
  origin: string
  file?: string
  line?: number
}

interface Rule {
  behavior: string
  rule: string
  source: string
}

const tabs = ['Rules', 'Settings', 'This page'] as const

export function Settings({ conversation }: { conversation: Conversation }) {
  const [tab, setTab] = useState<(typeof tabs)[number]>('Rules')
  const key = (e: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key]
    if (!by) return
    e.preventDefault()
    const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length]!
    setTab(next)
    document.getElementById(`tab-${next}`)?.focus()
  }
  return (
    <Dialog title="Settings and rules" wide>
      <div class="tabs" role="tablist" aria-label="Settings and rules" onKeyDown={key}>
        {tabs.map((t) => (
          <button key={t} id={`tab-${t}`} type="button" role="tab" aria-selected={t === tab} aria-controls="tabpanel" tabIndex={t === tab ? 0 : -1} onClick={() => setTab(t)}>
            {t}
          </button>
        ))}
      </div>
      <div id="tabpanel" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {tab === 'Rules' ? <Rules conversation={conversation} /> : tab === 'Settings' ? <Values conversation={conversation} /> : <Own />}
      </div>
    </Dialog>
  )
}

function Rules({ conversation }: { conversation: Conversation }) {
  const rules = useLoad(() => conversation.read<{ rules?: Rule[] | null; state?: { rules?: Rule[] | null } }>('rules'), [conversation])
  const mode = useStore(conversation.talk, (t) => t.mode)
  const list = rules.value?.rules ?? rules.value?.state?.rules ?? []
  return (
    <>
      <p class="faint">The mode is {line(mode)}. A rule that denies holds in every mode.</p>
      <Waiting of={rules} />
      {rules.value && !list.length ? <p class="faint">There are no rules.</p> : null}
      <table class="figures start">
        <tbody>
          {list.map((r, i) => (
            <tr key={i}>
              <td><span class={`tag ${r.behavior}`}>{line(r.behavior)}</span></td>
              <th scope="row"><code><Exact text={r.rule} /></code></th>
              <td class="faint">{line(r.source)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

function Values({ conversation }: { conversation: Conversation }) {
  const settings = useLoad(() => conversation.read<{ settings?: Setting[] | null; files?: { scope?: string; path?: string }[] | null }>('settings'), [conversation])
  return (
    <>
      <Waiting of={settings} />
      <table class="figures start">
        <tbody>
          {(settings.value?.settings ?? []).map((s) => (
            <tr key={s.key}>
              <th scope="row"><code>{line(s.key)}</code></th>
              <td><code class="value"><Exact text={typeof s.value === 'string' ? s.value : JSON.stringify(s.value)} /></code></td>
              <td class="faint">{line([s.origin, s.file ? `${s.file}${s.line ? `:${s.line}` : ''}` : ''].filter(Boolean).join(' · '))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {settings.value?.files?.length ? <p class="faint">Read: {settings.value.files.map((f) => line(f.path ?? '')).join(', ')}</p> : null}
    </>
  )
}

function Own() {
  const open = useStore(openDiffs, (v) => v)
  return (
    <label class="option">
      <input
        type="checkbox"
        checked={open}
        onChange={(e) => {
          openDiffs.set(e.currentTarget.checked)
          kept.set('changes', e.currentTarget.checked ? '' : 'folded')
        }}
      />
      <span><b>Show changes of files unfolded</b><span class="faint">All other calls are one line until you open them.</span></span>
    </label>
  )
}
