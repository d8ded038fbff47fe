// A change of a file, in one column or side by side.

import { useState } from 'preact/hooks'
import { nearby } from '../app'
import { kept, Store, useStore } from '../store'
import { counts, rows, whole, type DiffRow, type Side } from '../text/diff'
import { languageOf } from '../text/highlight'
import { exact, line } from '../text/visible'
import type { View } from '../wire'
import { Coloured, Scroll } from './markdown'
import { Exact } from './views'

export const sideBySide = new Store(kept.get('diff') === 'split')

const most = 600

export function Diff({ view }: { view: Extract<View, { kind: 'diff' }> }) {
  const split = useStore(sideBySide, (v) => v)
  const [all, setAll] = useState(false)
  const hunks = view.hunks?.length ? view.hunks : view.created ? whole(view.new) : []
  const { added, removed } = counts(hunks)
  const every = rows(hunks)
  const shown = all ? every : every.slice(0, most)
  const language = languageOf(view.path)
  return (
    <figure class="diff">
      <figcaption>
        <span class="path" dir="ltr" title={line(view.path)}>{line(nearby(view.path))}</span>
        {view.created ? <span class="tag">new</span> : null}
        <span class="tally" aria-label={`${added} lines added, ${removed} removed`}>
          <b class="plus">+{added}</b> <b class="minus">−{removed}</b>
        </span>
        <button
          type="button"
          class="quiet small wide-only"
          aria-pressed={split}
          onClick={() => {
            sideBySide.set(!split)
            kept.set('diff', split ? '' : 'split')
          }}
        >
          {split ? 'Inline' : 'Side by side'}
        </button>
      </figcaption>
      <Scroll class={split ? 'lines split' : 'lines'} label={`Change of ${line(view.path)}`}>
        <table>
          {split ? (
            <colgroup>
              <col class="no" />
              <col />
              <col class="no" />
              <col />
            </colgroup>
          ) : null}
          <tbody>{shown.flatMap((r, i) => (split ? [sides(r, i, language)] : inlineRows(r, i, language)))}</tbody>
        </table>
        {shown.length < every.length ? <button type="button" class="link" onClick={() => setAll(true)}>Show all {every.length.toLocaleString()} lines</button> : null}
      </Scroll>
    </figure>
  )
}

function text(side: Side | undefined, language: string) {
  if (!side) return null
  const t = side.text
  // Something hidden in a line matters more than its colours.
  if (exact(t).some((p) => p.kind === 'mark' && p.text !== '\t')) return <Exact text={t} />
  if (!side.mark) return <Coloured text={t} language={language} />
  const [a, b] = side.mark
  return (
    <>
      {t.slice(0, a)}
      <mark>{t.slice(a, b)}</mark>
      {t.slice(b)}
    </>
  )
}

function gap(r: DiffRow, i: number, span: number) {
  return (
    <tr key={`${i}`} class="gap">
      <td colSpan={span}>{r.skipped} unchanged lines</td>
    </tr>
  )
}

function inlineRows(r: DiffRow, i: number, language: string) {
  if (r.kind === 'gap') return [gap(r, i, 3)]
  if (r.kind === 'same') return [one(`${i}`, 'same', r.old?.number, r.now?.number, r.now, language)]
  const out = []
  if (r.old) out.push(one(`${i}-`, 'del', r.old.number, undefined, r.old, language))
  if (r.now) out.push(one(`${i}+`, 'add', undefined, r.now.number, r.now, language))
  return out
}

const signs = { add: '+', del: '−', same: '' }

function one(key: string, kind: 'add' | 'del' | 'same', o: number | undefined, n: number | undefined, side: Side | undefined, language: string) {
  return (
    <tr key={key} class={kind}>
      <td class="no">{o}</td>
      <td class="no">{n}</td>
      <td class="src">
        <span class="sign">{signs[kind]}</span>
        <code>{text(side, language)}</code>
      </td>
    </tr>
  )
}

function sides(r: DiffRow, i: number, language: string) {
  if (r.kind === 'gap') return gap(r, i, 4)
  const same = r.kind === 'same'
  return (
    <tr key={`${i}`}>
      <td class={same ? 'no' : r.old ? 'no del' : 'no none'}>{r.old?.number}</td>
      <td class={same ? 'src' : r.old ? 'src del' : 'src none'}>
        <span class="sign">{!same && r.old ? '−' : ''}</span>
        <code>{text(r.old, language)}</code>
      </td>
      <td class={same ? 'no' : r.now ? 'no add' : 'no none'}>{r.now?.number}</td>
      <td class={same ? 'src' : r.now ? 'src add' : 'src none'}>
        <span class="sign">{!same && r.now ? '+' : ''}</span>
        <code>{text(r.now, language)}</code>
      </td>
    </tr>
  )
}
