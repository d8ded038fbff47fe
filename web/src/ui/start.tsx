// What stands in the middle while no conversation is open.

import { app, goTo } from '../app'
import { useStore } from '../store'
import { ago, folder } from '../text/format'
import { line } from '../text/visible'
import { Icon, Mark } from './icon'
import { titleOf } from './sessions'

export function Start() {
  const rows = useStore(app, (a) => a.rows)
  const home = useStore(app, (a) => a.me?.home ?? '')
  const readOnly = useStore(app, (a) => a.me?.read_only ?? false)
  const urgent = rows.filter((r) => r.state === 'waiting' || r.state === 'running')
  const recent = rows.filter((r) => !urgent.includes(r)).slice(0, 6)
  return (
    <div class="start">
      <button type="button" class="quiet narrow-only corner" aria-label="Sessions" onClick={() => app.patch({ panel: 'sessions' })}>
        <Icon name="menu" />
      </button>
      <div class="column">
        <h1>
          <Mark /> hew
        </h1>
        <p class="lead">What should be done?</p>
        {readOnly ? null : (
          <button type="button" class="primary" onClick={() => app.patch({ dialog: 'new' })}>
            <Icon name="plus" /> New session
          </button>
        )}
        {urgent.length ? <Group name="Now" rows={urgent} home={home} /> : null}
        {recent.length ? <Group name="Recent" rows={recent} home={home} /> : null}
      </div>
    </div>
  )
}

function Group({ name, rows, home }: { name: string; rows: ReturnType<typeof app.get>['rows']; home: string }) {
  return (
    <section>
      <h2>{name}</h2>
      <ul class="cards">
        {rows.map((r) => (
          <li key={r.id}>
            <button type="button" onClick={() => goTo(r.id)}>
              <span class="title">
                {r.state === 'waiting' || r.state === 'running' ? <span class={`dot ${r.state}`} role="img" aria-label={r.state === 'waiting' ? 'waits for an answer' : 'running'} /> : null}
                {titleOf(r)}
              </span>
              <span class="where">
                <span class="dir">{line(folder(r.cwd ?? '', home))}</span>
                <time>{r.modified_ms ? ago(r.modified_ms, Date.now()) : ''}</time>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
