// What happens right now, at the end of the conversation: progress, and messages that hew has not taken up yet.

import { useEffect, useState } from 'preact/hooks'
import type { Conversation } from '../conversation'
import type { Waiting } from '../fold'
import { useStore } from '../store'
import { duration, tokens } from '../text/format'
import { line, tame } from '../text/visible'

export function Waitings({ conversation }: { conversation: Conversation }) {
  const run = useStore(conversation.talk, (t) => t.run)
  const asked = useStore(conversation.talk, (t) => t.questions.length > 0)
  const waiting = useStore(conversation.talk, (t) => t.waiting)
  return (
    <>
      {waiting.map((w) => (
        <WaitingView key={w.uuid} w={w} conversation={conversation} />
      ))}
      {run.busy ? <Progress began={run.began_ms} words={asked ? 'Waiting for your answer' : line(run.waits || run.active || 'Working')} spoken={run.tokens} still={asked} /> : null}
    </>
  )
}

function Progress({ began, words, spoken, still }: { began: number; words: string; spoken: number; still: boolean }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return (
    <p class="progress">
      <span class={still ? 'pulse held' : 'pulse'} aria-hidden="true" />
      <span class="words">{words}</span>
      <span class="took">
        {began && now > began ? duration(Math.floor((now - began) / 1000) * 1000) : ''}
        {spoken ? ` · ${tokens(spoken)} tokens` : ''}
      </span>
    </p>
  )
}

function WaitingView({ w, conversation }: { w: Waiting; conversation: Conversation }) {
  const busy = useStore(conversation.talk, (t) => t.run.busy)
  const open = useStore(conversation.link, (s) => s === 'open')
  const back = async () => {
    if (!(await conversation.takeBack(w))) return
    const draft = conversation.draft.get().text
    conversation.write(draft ? `${w.text}\n${draft}` : w.text)
    conversation.draft.set({ text: conversation.draft.get().text, foreign: conversation.draft.get().foreign + 1 })
    document.querySelector<HTMLElement>('[data-composer]')?.focus()
  }
  return (
    <div class="item prompt waiting">
      <div class="asked">
        <div class="words" dir="auto">{tame(w.text)}</div>
        <p class="faint">
          {!open ? 'will be sent when the connection is back' : busy ? 'joins after the running step' : 'on its way'}
          {open && busy ? (
            <button type="button" class="link" onClick={() => void back()}>
              Take back
            </button>
          ) : null}
        </p>
      </div>
    </div>
  )
}
