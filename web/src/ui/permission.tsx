// May this call run? What will run is shown exactly and whole; agreeing is possible once its end was on the screen.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { exact, line, tame } from '../text/visible'
import { lasting, place, places, readRule, ruleText } from '../text/rule'
import type { Json, Suggestion, View } from '../wire'
import { Answer, type AskProps } from './asks'
import { Exact, ViewOf } from './views'

export function Permission({ q, readOnly, answer }: AskProps) {
  const r = q.request
  const suggestions = r.permission_suggestions ?? []
  const [read, setRead] = useState(false)
  const [always, setAlways] = useState<Suggestion[]>()
  const [words, setWords] = useState('')
  const mode = suggestions.find((s) => s.type === 'setMode')
  const allow = (updates: Suggestion[]) => answer({ behavior: 'allow', ...(updates.length ? { updatedPermissions: updates as unknown as Json } : {}), ...(words.trim() ? { message: words.trim() } : {}) })
  const deny = () => (words.trim() ? answer({ behavior: 'deny', message: words.trim() }) : answer({ behavior: 'deny', message: 'The person said no.', interrupt: true }))
  return (
    <>
      <h2>
        {line(r.display_name || r.tool_name || 'A tool')} <span class="what">{line(q.title || r.description || '')}</span>
      </h2>
      {r.decision_reason ? <p class="faint" dir="auto">{tame(r.decision_reason)}</p> : null}
      <Reading onRead={() => setRead(true)}>
        {q.preview ? <Before view={q.preview} /> : null}
        <WholeInput input={r.input ?? {}} open={!q.preview} />
      </Reading>
      {always ? (
        <Always
          suggestions={always}
          risk={q.risk}
          blocked={!read}
          cancel={() => setAlways(undefined)}
          write={(s) => allow(s)}
        />
      ) : readOnly ? (
        <p class="faint">Somebody else has to answer: this page only looks.</p>
      ) : (
        <div class="answers">
          {read ? null : <p class="faint" role="status">Scroll to its end before you agree.</p>}
          <Answer keys="1" primary disabled={!read} onClick={() => allow([])}>Yes</Answer>
          {suggestions.length ? (
            <Answer keys="2" disabled={!read} onClick={() => allow(suggestions.map((s) => ({ ...s, destination: 'session' })))}>
              {mode?.mode === 'acceptEdits' ? 'Yes, and accept edits in this session' : 'Yes, for this session'}
            </Answer>
          ) : null}
          {suggestions.some(lasting) ? (
            <Answer keys="3" onClick={() => setAlways(suggestions)}>Always …</Answer>
          ) : null}
          <Answer keys="Escape" onClick={deny}>{words.trim() ? 'No, do that instead' : 'No, stop'}</Answer>
          <input class="words" dir="auto" value={words} onInput={(e) => setWords(e.currentTarget.value)} placeholder="Add words for hew (optional)" aria-label="Words for hew, with a yes or a no" />
        </div>
      )}
    </>
  )
}

// Reading tells when everything in it was on the screen.
function Reading({ onRead, children }: { onRead(): void; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null)
  const [long, setLong] = useState(false)
  const look = () => {
    const el = box.current
    if (!el) return
    setLong(el.scrollHeight > el.clientHeight + 2)
    if (el.scrollHeight - el.scrollTop - el.clientHeight < 8) onRead()
  }
  useLayoutEffect(look, [])
  useEffect(() => {
    const el = box.current
    if (!el) return
    const watch = new ResizeObserver(look)
    watch.observe(el)
    return () => watch.disconnect()
  }, [])
  return (
    <div ref={box} class={long ? 'reading long' : 'reading'} onScroll={look} {...(long ? { tabIndex: 0, role: 'group', 'aria-label': 'What will run; scroll to see all of it' } : {})}>
      {children}
    </div>
  )
}

// Before shows a preview with nothing hidden: no folding, no colours that could hide a character.
function Before({ view }: { view: View }) {
  if (view.kind === 'text') return <ExactBox text={view.text} />
  if (view.kind === 'terminal') return <ExactBox text={view.command} prompt />
  return <ViewOf view={view} />
}

export function ExactBox({ text, prompt }: { text: string; prompt?: boolean }) {
  const odd = exact(text).filter((p) => p.kind !== '' && p.text !== '\t')
  const runs = odd.some((p) => p.kind === 'run')
  const marks = odd.some((p) => p.kind === 'mark')
  return (
    <>
      <pre class="exact" dir="ltr">
        {prompt ? <span class="prompt" aria-hidden="true">$ </span> : null}
        <Exact text={text} />
      </pre>
      {odd.length ? (
        <p class="line warning">
          <b>Look closely</b>
          {marks ? 'It has characters that cannot be seen; they are written by their codes. ' : ''}
          {runs ? 'It has long white space, which could push something out of sight; its length is written instead.' : ''}
        </p>
      ) : null}
    </>
  )
}

function WholeInput({ input, open }: { input: object; open: boolean }) {
  return (
    <details open={open}>
      <summary>Everything that the tool gets</summary>
      <pre class="exact" dir="ltr">
        <Exact text={JSON.stringify(input, null, 2)} />
      </pre>
    </details>
  )
}

interface Row {
  from: number
  tool: string
  text: string
  keep: boolean
}

// Always shows the very rules that would be written, and where; each can be changed or left out.
function Always({ suggestions, risk, blocked, cancel, write }: { suggestions: Suggestion[]; risk: string; blocked: boolean; cancel(): void; write(s: Suggestion[]): void }) {
  const [rows, setRows] = useState<Row[]>(() => suggestions.flatMap((s, from) => (s.rules ?? []).map((r) => ({ from, tool: r.toolName, text: ruleText(r), keep: true }))))
  const [where, setWhere] = useState(() => suggestions.map((s) => s.destination))
  const box = useRef<HTMLFieldSetElement>(null)
  useEffect(() => box.current?.querySelector('input')?.focus(), [])
  const change = (i: number, to: Partial<Row>) => setRows(rows.map((r, k) => (k === i ? { ...r, ...to } : r)))
  const wrong = rows.map((r) => (r.keep ? readRule(r.text, r.tool) : '')).map((r) => (typeof r === 'string' ? r : ''))
  const chosen = suggestions.flatMap((s, i): Suggestion[] => {
    if (!s.rules?.length) return [{ ...s, destination: where[i] ?? s.destination }]
    const rules = rows.filter((r) => r.from === i && r.keep).map((r) => readRule(r.text, r.tool))
    return rules.length ? [{ ...s, destination: where[i] ?? s.destination, rules: rules.filter((r) => typeof r !== 'string') }] : []
  })
  return (
    <fieldset class="always" ref={box}>
      <legend>Allow for good. This is written:</legend>
      {suggestions.map((s, i) => (
        <div key={i} class="grant">
          {rows.map((r, k) =>
            r.from === i ? (
              <div key={k} class="rule">
                <input type="checkbox" checked={r.keep} aria-label={`Write ${line(r.text)}`} onChange={(e) => change(k, { keep: e.currentTarget.checked })} />
                <input class="mono" dir="ltr" value={r.text} disabled={!r.keep} aria-label="Rule" aria-invalid={wrong[k] ? true : undefined} spellcheck={false} onInput={(e) => change(k, { text: e.currentTarget.value })} />
                {wrong[k] ? <p class="line error" role="alert">{line(wrong[k])}</p> : null}
                {exact(r.text).some((p) => p.kind) ? <p class="line warning"><b>Exactly</b> <code><Exact text={r.text} /></code></p> : null}
              </div>
            ) : null,
          )}
          {(s.directories ?? []).map((d) => (
            <p key={d}>the folder <code><Exact text={d} /></code></p>
          ))}
          {s.mode ? <p>the mode <code>{line(s.mode)}</code></p> : null}
          {s.type === 'setMode' ? <p class="faint">{place('session')}</p> : (
            <label class="where">
              <span class="sr">Where</span>
              <select value={where[i]} onChange={(e) => setWhere(where.map((w, k) => (k === i ? e.currentTarget.value : w)))}>
                {[...new Set([...Object.keys(places), s.destination])].map((d) => (
                  <option key={d} value={d}>{place(d)}</option>
                ))}
              </select>
            </label>
          )}
        </div>
      ))}
      {risk ? <p class="line warning"><b>This leaves open</b> {tame(risk)}</p> : null}
      <div class="answers">
        <Answer primary disabled={blocked || wrong.some(Boolean) || !chosen.length} onClick={() => write(chosen)}>
          Yes, and write this
        </Answer>
        <Answer onClick={cancel}>Back</Answer>
        {blocked ? <p class="faint" role="status">Scroll to the end of what will run first.</p> : null}
      </div>
    </fieldset>
  )
}
