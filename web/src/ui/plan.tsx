// Is this plan approved?

import { useState } from 'preact/hooks'
import type { View } from '../wire'
import { Answer, type AskProps } from './asks'
import { Markdown } from './markdown'
import { ViewOf } from './views'

function planOf(view: View | null, input: unknown): string {
  if (typeof input === 'string' && input) return input
  if (view?.kind === 'text') return view.text
  if (view?.kind === 'nested') return view.views.map((v) => (v.kind === 'text' ? v.text : '')).join('\n\n')
  return ''
}

export function Plan({ q, readOnly, answer }: AskProps) {
  const [words, setWords] = useState('')
  const text = planOf(q.preview, q.request.input?.plan)
  const allow = (mode?: string) =>
    answer({ behavior: 'allow', ...(mode ? { updatedPermissions: [{ type: 'setMode', mode, destination: 'session' }] } : {}) })
  return (
    <>
      <h2>Shall hew carry out this plan?</h2>
      <div class="reading long" tabIndex={0} role="group" aria-label="The plan">
        {text ? <Markdown text={text} /> : q.preview ? <ViewOf view={q.preview} /> : <p class="faint">The plan is in the conversation above.</p>}
      </div>
      {readOnly ? null : (
        <div class="answers">
          <Answer keys="1" primary onClick={() => allow()}>Yes, and ask before changes</Answer>
          <Answer keys="2" onClick={() => allow('acceptEdits')}>Yes, and accept edits</Answer>
          <Answer keys="Escape" onClick={() => answer({ behavior: 'deny', message: words.trim() || 'The person wants to keep planning.' })}>
            {words.trim() ? 'No, change the plan' : 'No, keep planning'}
          </Answer>
          <input class="words" dir="auto" value={words} onInput={(e) => setWords(e.currentTarget.value)} placeholder="What should be different? (optional)" aria-label="What should be different" />
        </div>
      )}
    </>
  )
}
