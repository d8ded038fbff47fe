// The questions that wait for an answer, one at a time, above the text field.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import type { Conversation } from '../conversation'
import { say } from '../say'
import { useStore } from '../store'
import { line } from '../text/visible'
import type { Obj, Question } from '../wire'
import { Choices } from './choose'
import { Form, UserDialog } from './form'
import { Permission } from './permission'
import { Plan } from './plan'

export interface AskProps {
  q: Question
  readOnly: boolean
  answer(response: Obj): void
}

export function Asks({ conversation }: { conversation: Conversation }) {
  const questions = useStore(conversation.talk, (t) => t.questions)
  const closed = useStore(conversation.talk, (t) => t.closed)
  const readOnly = useStore(conversation.readOnly, (v) => v)
  const [at, setAt] = useState('')
  const q = questions.find((x) => x.request_id === at) ?? questions[0]

  useEffect(() => {
    if (closed?.by) say(`Answered by ${line(closed.by)}`)
  }, [closed])

  if (!q) return null
  const i = questions.indexOf(q)
  return (
    <>
      {questions.length > 1 ? (
        <p class="faint queue">
          Question {i + 1} of {questions.length}
          <button type="button" class="link" onClick={() => setAt(questions[(i + 1) % questions.length]?.request_id ?? '')}>
            Next
          </button>
        </p>
      ) : null}
      <Frame key={q.request_id} q={q}>
        <Body q={q} readOnly={readOnly} answer={(r) => conversation.answer(q, r)} />
      </Frame>
    </>
  )
}

function Body(p: AskProps) {
  switch (p.q.kind) {
    case 'plan':
      return <Plan {...p} />
    case 'choice':
      return Array.isArray(p.q.request.input?.questions) ? <Choices {...p} /> : <Permission {...p} />
    case 'elicitation':
      return <Form {...p} />
    case 'request_user_dialog':
      return <UserDialog {...p} />
  }
  return <Permission {...p} />
}

// What is pressed or clicked so soon was meant for something else: the person was typing, or the page moved under the pointer.
const keysCount = 600
const clicksCount = 300

let typed = -Infinity
addEventListener('keydown', () => (typed = performance.now()), true)

// Frame holds a question. It takes the focus, unless somebody writes at the moment; it takes no answer that was not meant for it.
function Frame({ q, children }: { q: Question; children: ComponentChildren }) {
  const box = useRef<HTMLElement>(null)
  const shown = useRef(performance.now())
  useLayoutEffect(() => {
    shown.current = performance.now()
    const el = box.current
    const field = document.activeElement
    const writes = field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement ? field.value !== '' || performance.now() - typed < 1500 : false
    if (el && !writes && !document.querySelector('dialog[open]')) el.focus({ preventScroll: true })
  }, [])
  useEffect(() => say(`hew asks: ${line(q.title) || q.kind}`, 'urgent'), [])
  const early = (e: Event) => {
    const since = performance.now() - shown.current
    const key = e instanceof KeyboardEvent
    // A click that a key made has no detail.
    const late = key || (e instanceof MouseEvent && e.detail === 0) ? keysCount : clicksCount
    const leaving = key && ['Tab', 'Shift', 'Alt', 'Control', 'Meta', 'ArrowDown', 'ArrowUp', 'PageDown', 'PageUp'].includes(e.key)
    if ((since < late && !leaving) || (key && e.repeat && (e.key === 'Enter' || e.key === ' '))) {
      e.preventDefault()
      e.stopPropagation()
    }
  }
  return (
    <section
      ref={box}
      class={`ask ${q.kind}`}
      role="group"
      aria-label={`hew asks: ${line(q.title)}`}
      tabIndex={-1}
      data-ask
      onKeyDownCapture={early}
      onClickCapture={early}
      onKeyDown={(e) => digits(e, box.current)}
    >
      {q.agent ? <p class="faint">The agent {line(q.agent)} asks:</p> : null}
      {children}
    </section>
  )
}

// Digits press the answers that carry them, Escape the last no.
function digits(e: KeyboardEvent, box: HTMLElement | null) {
  if (e.ctrlKey || e.metaKey || e.altKey || e.repeat) return
  const field = e.target instanceof HTMLInputElement || e.target instanceof HTMLTextAreaElement || e.target instanceof HTMLSelectElement
  if (field && e.key !== 'Escape') return
  const button = box?.querySelector<HTMLButtonElement>(`button[data-key="${CSS.escape(e.key)}"]:not(:disabled)`)
  if (!button) return
  e.preventDefault()
  button.click()
}

export function Answer({ keys, primary, disabled, onClick, children }: { keys?: string; primary?: boolean; disabled?: boolean; onClick(): void; children: ComponentChildren }) {
  return (
    <button type="button" class={primary ? 'primary' : undefined} disabled={disabled} data-key={keys} aria-keyshortcuts={keys} onClick={onClick}>
      {children} {keys ? <kbd aria-hidden="true">{keys === 'Escape' ? 'esc' : keys}</kbd> : null}
    </button>
  )
}
