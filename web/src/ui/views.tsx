// Draws a View by its kind. No tool is known here by name.

import { useEffect, useRef, useState } from 'preact/hooks'
import { terminal } from '../text/ansi'
import { languageOf } from '../text/highlight'
import { exact, line, tame } from '../text/visible'
import type { Entry, View } from '../wire'
import { Diff } from './diff'
import { Coloured, Scroll } from './markdown'
import { pure } from './pure'

export const ViewOf = pure<{ view: View }>(({ view }) => {
  switch (view.kind) {
    case 'text':
      return <Long text={view.text} />
    case 'diff':
      return <Diff view={view} />
    case 'terminal':
      return <Terminal command={view.command} output={view.output} code={view.exit_code} />
    case 'list':
      return <List title={view.title} items={view.items} />
    case 'table':
      return (
        <Scroll class="table" label="Table">
          <table>
            {view.header?.length ? (
              <thead>
                <tr>{view.header.map((h, i) => <th key={i} scope="col">{line(h)}</th>)}</tr>
              </thead>
            ) : null}
            <tbody>
              {(view.rows ?? []).map((r, i) => (
                <tr key={i}>{r.map((c, k) => <td key={k}>{tame(c)}</td>)}</tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )
    case 'nested':
      return (
        <section class="nested" aria-label={line(view.title)}>
          <p class="faint">{line(view.title)}</p>
          {view.views.map((v, i) => (v ? <ViewOf key={i} view={v} /> : null))}
        </section>
      )
  }
  // A server that is newer than this page may have a kind that is not known here.
  return <Long text={JSON.stringify(view, null, 2)} />
})

const most = 400

// Long shows a text, the whole of it when asked.
export function Long({ text, path }: { text: string; path?: string }) {
  const [all, setAll] = useState(false)
  const lines = text.split('\n')
  const cut = !all && (lines.length > most || text.length > 60_000)
  const shown = cut ? lines.slice(0, most).join('\n').slice(0, 60_000) : text
  return (
    <Scroll class="pre tall" label="Text">
      <pre>{path ? <Coloured text={shown} language={languageOf(path)} /> : tame(shown)}</pre>
      {cut ? <button type="button" class="link" onClick={() => setAll(true)}>Show all {lines.length.toLocaleString()} lines</button> : null}
    </Scroll>
  )
}

export function Terminal({ command, output, code, running }: { command?: string; output: string; code?: number; running?: boolean }) {
  const box = useRef<HTMLDivElement>(null)
  const [all, setAll] = useState(false)
  useEffect(() => {
    const el = box.current?.firstElementChild
    if (running && el) el.scrollTop = el.scrollHeight
  })
  const lines = terminal(output.length > 400_000 && !all ? output.slice(-400_000) : output)
  const shown = all ? lines : lines.slice(-most)
  return (
    <div class="term" ref={box}>
      <Scroll class="pre tall" label="Terminal output">
        {command === undefined ? null : (
          <pre class="command">
            <span class="prompt" aria-hidden="true">$ </span>
            <Exact text={command} />
          </pre>
        )}
        {shown.length < lines.length ? (
          <button type="button" class="link" onClick={() => setAll(true)}>Show {(lines.length - shown.length).toLocaleString()} earlier lines</button>
        ) : null}
        <pre>
          {shown.map((spans, i) => (
            <span key={i + lines.length - shown.length} class="row">
              {spans.map((s, k) => (s.look ? <span key={k} class={s.look}>{s.text}</span> : s.text))}
              {'\n'}
            </span>
          ))}
        </pre>
      </Scroll>
      {code ? <p class="exit bad">Exit code {code}</p> : null}
    </div>
  )
}

// Exact shows a text with everything in it made visible.
export function Exact({ text }: { text: string }) {
  return (
    <>
      {exact(text).map((p, i) =>
        p.kind === '' ? (
          p.text
        ) : (
          <span key={i} class={`seen ${p.kind}`} role="img" aria-label={p.label} title={p.label}>
            {p.label}
          </span>
        ),
      )}
    </>
  )
}

export function List({ title, items }: { title?: string; items: Entry[] }) {
  return (
    <div class="entries">
      {title ? <p class="faint">{line(title)}</p> : null}
      <ul>
        {items.map((e, i) => (
          <li key={i} class={e.state ? `entry ${e.state}` : 'entry'}>
            {e.state ? <span class={`box ${e.state === 'completed' ? 'done' : e.state === 'in_progress' ? 'half' : ''}`} role="img" aria-label={e.state.replace('_', ' ')} /> : null}
            <span dir="auto">{tame(e.text)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
