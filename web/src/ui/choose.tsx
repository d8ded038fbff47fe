// The model's own questions: choose among answers, or write one.

import { useState } from 'preact/hooks'
import { line, tame } from '../text/visible'
import type { Obj } from '../wire'
import { Answer, type AskProps } from './asks'
import { Code, Markdown } from './markdown'

interface One {
  question?: string
  header?: string
  multiSelect?: boolean
  options?: { label?: string; description?: string; preview?: string }[]
}

interface Given {
  labels: string[]
  own: string
}

export function Choices({ q, readOnly, answer }: AskProps) {
  const questions = (q.request.input?.questions ?? []) as unknown as One[]
  const [given, setGiven] = useState<Given[]>(() => questions.map(() => ({ labels: [], own: '' })))
  const words = (g: Given | undefined) => [...(g?.labels ?? []), ...(g?.own.trim() ? [g.own.trim()] : [])].join(', ')
  const answers: Obj = {}
  questions.forEach((x, i) => {
    const w = words(given[i])
    if (w && x.question) answers[x.question] = w
  })
  const all = Object.keys(answers).length === questions.length
  const change = (i: number, to: Partial<Given>) => setGiven(given.map((g, k) => (k === i ? { ...g, ...to } : g)))
  const send = (a: Obj) => answer({ behavior: 'allow', updatedInput: { ...(q.request.input ?? {}), answers: a } })
  const choose = (i: number, x: One, label: string, on: boolean) => {
    if (x.multiSelect) change(i, { labels: on ? [...(given[i]?.labels ?? []), label] : (given[i]?.labels ?? []).filter((l) => l !== label) })
    else change(i, { labels: [label], own: '' })
  }
  return (
    <>
      {questions.map((x, i) => (
        <fieldset key={i} class="choice-of">
          <legend>
            {x.header ? <span class="tag">{line(x.header)}</span> : null} <Markdown text={String(x.question ?? '')} />
          </legend>
          {(x.options ?? []).map((o, k) => {
            const label = String(o.label ?? '')
            return (
              <label key={k} class="option">
                <input type={x.multiSelect ? 'checkbox' : 'radio'} name={`${q.request_id}-${i}`} checked={given[i]?.labels.includes(label) ?? false} disabled={readOnly} onChange={(e) => choose(i, x, label, e.currentTarget.checked)} />
                <span>
                  <b dir="auto">{tame(label)}</b>
                  {o.description ? <span class="faint" dir="auto">{tame(String(o.description))}</span> : null}
                  {o.preview && given[i]?.labels.includes(label) ? <Code text={String(o.preview)} language="" /> : null}
                </span>
              </label>
            )
          })}
          <input class="words" dir="auto" disabled={readOnly} placeholder="Something else" aria-label={`Something else: ${line(String(x.question ?? ''))}`} value={given[i]?.own ?? ''} onInput={(e) => change(i, { own: e.currentTarget.value, ...(x.multiSelect ? {} : { labels: [] }) })} />
        </fieldset>
      ))}
      {readOnly ? null : (
        <div class="answers">
          <Answer primary disabled={!all} onClick={() => send(answers)}>Answer</Answer>
          {all ? null : <Answer onClick={() => send(answers)}>{Object.keys(answers).length ? 'Leave the rest to hew' : 'Decide yourself'}</Answer>}
          <Answer keys="Escape" onClick={() => answer({ behavior: 'deny', message: 'The person wants to talk about this first.' })}>Talk about it</Answer>
        </div>
      )}
    </>
  )
}
