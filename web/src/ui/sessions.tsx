// The list of sessions: find, open, rename, fork.

import { useEffect, useRef, useState } from 'preact/hooks'
import { api, get, of } from '../api'
import { app, failed, goTo, loadRows } from '../app'
import { useStore } from '../store'
import { ago, folder } from '../text/format'
import { line } from '../text/visible'
import type { Row } from '../wire'
import { Icon, Mark } from './icon'
import { Menu } from './menu'
import { ThemeSwitch } from './theme'

export const titleOf = (r: Row) => line(r.title || r.first_prompt || 'New session').slice(0, 200)

export function Sessions() {
  const rows = useStore(app, (a) => a.rows)
  const total = useStore(app, (a) => a.total)
  const open = useStore(app, (a) => a.open?.id)
  const home = useStore(app, (a) => a.me?.home ?? '')
  const readOnly = useStore(app, (a) => a.me?.read_only ?? false)
  const [query, setQuery] = useState('')
  const [said, setSaid] = useState<Row[]>()
  const timer = useRef(0)
  const list = useRef<HTMLUListElement>(null)

  useEffect(() => () => clearTimeout(timer.current), [])
  const search = (q: string) => {
    setQuery(q)
    setSaid(undefined)
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => void loadRows(q.trim()), 150)
  }
  const searchSaid = () => void get<{ matches: Row[] | null }>(`/search?q=${encodeURIComponent(query.trim())}&limit=30`).then((r) => setSaid(r.matches ?? []), failed)

  // Arrow keys walk the list; one of its links is in the tab order.
  const walk = (e: KeyboardEvent) => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>('a') ?? [])]
    const at = links.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[e.key]
    if (to === undefined || at < 0) return
    e.preventDefault()
    links[Math.max(0, Math.min(links.length - 1, to))]?.focus()
  }

  const shown = said ?? rows
  const reachable = shown.some((r) => r.id === open) ? open : shown[0]?.id
  return (
    <nav class="sessions" aria-label="Sessions">
      <header>
        <a class="brand" href="#/" aria-label="hew, start">
          <Mark /> hew
        </a>
        <ThemeSwitch />
        <Menu
          label="More"
          entries={[
            { name: 'Open on another device', run: () => app.patch({ dialog: 'link' }) },
            { name: 'Keyboard', run: () => app.patch({ dialog: 'keys' }) },
            { name: 'Sign out', run: () => void api('POST', '/logout').then(() => app.patch({ out: 'signed out' }), failed) },
          ]}
        />
        {readOnly ? null : (
          <button type="button" class="quiet" title="New session (Alt+N)" aria-label="New session" onClick={() => app.patch({ dialog: 'new' })}>
            <Icon name="plus" />
          </button>
        )}
      </header>
      <label class="search">
        <Icon name="search" />
        <input
          type="search"
          placeholder="Find a session"
          aria-label="Find a session"
          data-find
          value={query}
          onInput={(e) => search(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === 'ArrowDown') {
              e.preventDefault()
              list.current?.querySelector<HTMLElement>('a')?.focus()
            }
          }}
        />
      </label>
      <ul ref={list} onKeyDown={walk}>
        {shown.map((r) => (
          <SessionRow key={r.id} row={r} home={home} current={r.id === open} reachable={r.id === reachable} readOnly={readOnly} />
        ))}
      </ul>
      {query.trim() && !said ? (
        <button type="button" class="link" onClick={searchSaid}>
          Search in what was said
        </button>
      ) : null}
      {shown.length ? null : <p class="faint">{query ? 'Nothing fits.' : 'No session yet.'}</p>}
      {!said && total > rows.length ? (
        <button type="button" class="link" onClick={() => void loadRows(query.trim(), rows.length + 100)}>
          {total - rows.length} more
        </button>
      ) : null}
    </nav>
  )
}

function SessionRow({ row, home, current, reachable, readOnly }: { row: Row; home: string; current: boolean; reachable: boolean; readOnly: boolean }) {
  const [editing, setEditing] = useState(false)
  const hit = row.hits?.[0]
  if (editing) return <Rename row={row} done={() => setEditing(false)} />
  const state = row.state === 'waiting' ? 'waits for an answer' : row.state === 'running' ? 'running' : ''
  return (
    <li class={current ? 'current' : ''}>
      <a href={`#/s/${encodeURIComponent(row.id)}`} aria-current={current ? 'page' : undefined} tabIndex={reachable ? 0 : -1} title={titleOf(row)}>
        <span class="title">
          {state ? <span class={`dot ${row.state}`} role="img" aria-label={state} /> : null}
          {titleOf(row)}
        </span>
        {hit ? <span class="snippet">{line(hit.snippet)}</span> : null}
        <span class="where">
          <span class="dir">{line(folder(row.cwd ?? '', home))}</span>
          <time>{row.modified_ms ? ago(row.modified_ms, Date.now()) : ''}</time>
        </span>
      </a>
      {readOnly ? null : (
        <Menu
          label={`Actions for ${titleOf(row)}`}
          reachable={reachable}
          entries={[
            { name: 'Rename', run: () => setEditing(true) },
            { name: 'Fork', run: () => void api<{ id: string }>('POST', `${of(row.id)}/fork`).then((r) => goTo(r.id), failed) },
            { name: 'Put to sleep', run: () => void api('POST', `${of(row.id)}/close`).then(() => loadRows(), failed) },
          ]}
        />
      )}
    </li>
  )
}

function Rename({ row, done }: { row: Row; done(): void }) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.select(), [])
  const save = () => {
    const title = field.current?.value.trim() ?? ''
    if (title && title !== row.title) void api('PATCH', of(row.id), { title }).then(() => loadRows(), failed)
    done()
  }
  return (
    <li>
      <input
        ref={field}
        class="rename"
        aria-label="New name of the session"
        defaultValue={row.title || titleOf(row)}
        onBlur={save}
        onKeyDown={(e) => {
          if (e.key === 'Enter') save()
          if (e.key === 'Escape') done()
        }}
      />
    </li>
  )
}
