// Back to an earlier point: choose the prompt, see what would be taken back, then do it.

import { useState } from 'preact/hooks'
import { api, of } from '../api'
import type { Conversation } from '../conversation'
import { say } from '../say'
import { plural } from '../text/format'
import { line } from '../text/visible'
import { nearby } from '../app'
import { closeDialog, Dialog, useLoad, Waiting } from './dialog'

interface Point {
  number: number
  id: string
  text: string
  time?: string | number
}

interface Step {
  path?: string
  action?: string
  [key: string]: unknown
}

interface Outcome {
  plan?: { steps?: Step[] | null; lost?: { path: string; why: string }[] | null; notes?: string[] | null; commands?: number }
  [key: string]: unknown
}

export function Rewind({ conversation }: { conversation: Conversation }) {
  const points = useLoad(() => conversation.read<{ prompts: Point[] | null }>('rewind'), [conversation])
  const [to, setTo] = useState<Point>()
  const shown = [...(points.value?.prompts ?? [])].reverse()
  if (to) return <Preview conversation={conversation} to={to} back={() => setTo(undefined)} />
  return (
    <Dialog title="Go back to before a message">
      <Waiting of={points} />
      {points.value && !shown.length ? <p class="faint">There is nothing to go back to yet.</p> : null}
      <ul class="points">
        {shown.map((p) => (
          <li key={p.id}>
            <button type="button" onClick={() => setTo(p)}>
              <span class="title" dir="auto">{line(p.text) || 'a message'}</span>
              <span class="faint">{p.time ? new Date(p.time).toLocaleString() : ''}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

function Preview({ conversation, to, back }: { conversation: Conversation; to: Point; back(): void }) {
  const [files, setFiles] = useState(true)
  const [talk, setTalk] = useState(true)
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const post = (preview: boolean) => api<Outcome>('POST', `${of(conversation.id)}/rewind`, { to: to.id, files, conversation: talk, preview })
  const plan = useLoad(() => (files ? post(true) : Promise.resolve({} as Outcome)), [to.id, files])
  const steps = plan.value?.plan?.steps ?? []
  const go = async () => {
    setBusy(true)
    try {
      await post(false)
      if (talk) {
        conversation.write(to.text)
        conversation.draft.set({ text: to.text, foreign: conversation.draft.get().foreign + 1 })
      }
      say('Gone back.')
      closeDialog()
    } catch (e) {
      setProblem(e instanceof Error ? e.message : 'it did not work')
      setBusy(false)
    }
  }
  return (
    <Dialog title="Go back to before this message">
      <p class="quoted" dir="auto">{line(to.text)}</p>
      <label class="option"><input type="checkbox" checked={talk} onChange={(e) => setTalk(e.currentTarget.checked)} /> <span><b>The conversation</b><span class="faint">What came after is taken off; your message comes back as a draft.</span></span></label>
      <label class="option"><input type="checkbox" checked={files} onChange={(e) => setFiles(e.currentTarget.checked)} /> <span><b>The files</b><span class="faint">They get the content that they had then.</span></span></label>
      {files ? (
        <section class="steps" aria-label="What happens to files">
          <Waiting of={plan} />
          {plan.value ? <p class="faint">{steps.length ? plural(steps.length, 'file') : 'No file changes.'}</p> : null}
          {(plan.value?.plan?.lost ?? []).map((l, i) => <p key={i} class="line warning"><b>Cannot come back</b> <code>{line(nearby(l.path))}</code> {line(l.why)}</p>)}
          {(plan.value?.plan?.notes ?? []).map((n, i) => <p key={i} class="line warning"><b>Not undone</b> {line(n)}</p>)}
          <ul>
            {steps.map((s, i) => (
              <li key={i} class={String(s.action)}>
                <span class="tag">{line(String(s.action ?? 'change'))}</span> <code>{line(nearby(String(s.path ?? '')))}</code>
                {Object.entries(s).filter(([k, v]) => !['path', 'action', 'kind'].includes(k) && v !== '' && v !== null && typeof v !== 'object').map(([k, v]) => <span key={k} class="faint">{` ${k.replace(/_/g, ' ')}: ${line(String(v))}`}</span>)}
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      {problem ? <p class="line error" role="alert"><b>Not done</b> {line(problem)}</p> : null}
      <div class="answers">
        <button type="button" class="primary" disabled={busy || (!files && !talk) || (files && !plan.value)} onClick={() => void go()}>Go back</button>
        <button type="button" onClick={back}>Choose another</button>
      </div>
    </Dialog>
  )
}
