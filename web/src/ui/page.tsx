// The page: sessions at the left, the conversation in the middle, its details at the right.

import { useEffect } from 'preact/hooks'
import { app } from '../app'
import type { Conversation } from '../conversation'
import { useStore } from '../store'
import { folder } from '../text/format'
import { line } from '../text/visible'
import { Asks } from './asks'
import { Composer } from './composer'
import { Dialogs } from './dialogs'
import { Icon } from './icon'
import { Rail } from './rail'
import { Sessions, titleOf } from './sessions'
import { SignIn } from './signin'
import { Start } from './start'
import { Transcript } from './transcript'

export function Page() {
  const out = useStore(app, (a) => a.out)
  const open = useStore(app, (a) => a.open)
  const panel = useStore(app, (a) => a.panel)
  if (out === 'signed out') return <SignIn />
  return (
    <div class={`page ${panel ? `show-${panel}` : ''}`}>
      <a class="skip" href="#composer" onClick={(e) => skip(e)}>
        To the message field
      </a>
      <aside class="left" id="sessions">
        <Sessions />
      </aside>
      <main>
        <Banner />
        {open ? <Talking key={open.id} conversation={open} /> : <Start />}
      </main>
      {open ? <Rail key={open.id} conversation={open} /> : null}
      <Dialogs />
      {panel ? <button type="button" class="veil" aria-label="Close the panel" onClick={() => app.patch({ panel: '' })} /> : null}
    </div>
  )
}

function skip(e: Event) {
  e.preventDefault()
  document.querySelector<HTMLElement>('[data-composer]')?.focus()
}

function Talking({ conversation }: { conversation: Conversation }) {
  return (
    <>
      <Top conversation={conversation} />
      <Transcript conversation={conversation} />
      <div class="foot">
        <Trouble conversation={conversation} />
        <Asks conversation={conversation} />
        <Composer conversation={conversation} />
      </div>
    </>
  )
}

function Top({ conversation }: { conversation: Conversation }) {
  const row = useStore(app, (a) => a.rows.find((r) => r.id === conversation.id))
  const home = useStore(app, (a) => a.me?.home ?? '')
  const title = row ? titleOf(row) : 'Session'
  const waits = useStore(conversation.talk, (t) => t.questions.length > 0)
  useEffect(() => {
    document.title = `${waits ? '● ' : ''}${title} · hew`
  }, [title, waits])
  return (
    <header class="top">
      <button type="button" class="quiet narrow-only" aria-label="Sessions" onClick={() => app.patch({ panel: 'sessions' })}>
        <Icon name="menu" />
      </button>
      <div class="name">
        <h1>{title}</h1>
        <p class="faint" dir="ltr">
          {line(folder(row?.cwd ?? '', home))}
          {row?.branch && row.branch !== 'HEAD' ? ` · ${line(row.branch)}` : ''}
        </p>
      </div>
      <button type="button" class="quiet details-only" aria-label="Details" title="Details (Alt+D)" onClick={() => app.patch({ panel: 'details' })}>
        <Icon name="panel" />
      </button>
    </header>
  )
}

function Trouble({ conversation }: { conversation: Conversation }) {
  const link = useStore(conversation.link, (s) => s)
  const problem = useStore(conversation.talk, (t) => t.problem)
  return (
    <div class="trouble" role="status">
      {link === 'lost' ? <p class="line warning"><b>No connection</b> hew serve does not answer. Trying again; what you write is kept.</p> : null}
      {link === 'gone' ? <p class="line warning"><b>Gone</b> This session is no longer there.</p> : null}
      {link === 'out' ? <p class="line warning"><b>Signed out</b> Open the link that hew serve printed, or sign in again.</p> : null}
      {problem ? <p class="line warning">{line(problem.message)}</p> : null}
    </div>
  )
}

function Banner() {
  const stale = useStore(app, (a) => a.stale)
  const out = useStore(app, (a) => a.out)
  return (
    <>
      {stale ? (
        <p class="banner" role="alert">
          hew was updated and this page is of the older version.{' '}
          <button type="button" class="link" onClick={() => location.reload()}>Reload</button>
        </p>
      ) : null}
      {out === 'away' ? (
        <p class="banner" role="alert">
          <code>hew serve</code> does not answer. Your sessions are safe; start it again and this page goes on.
        </p>
      ) : null}
    </>
  )
}
