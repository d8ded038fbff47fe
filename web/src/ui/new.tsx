// A new session: choose a folder, and agree to what the folder would run by itself.

import { useRef, useState } from 'preact/hooks'
import { api, get, Refusal } from '../api'
import { app, goTo, loadRows } from '../app'
import { folder } from '../text/format'
import { line } from '../text/visible'
import { closeDialog, Dialog, useLoad, Waiting } from './dialog'
import { Exact } from './views'

interface Folders {
  dir: string
  parent?: string
  folders: string[] | null
  recent: string[] | null
}

interface Untrusted {
  folder?: string
  items?: { kind?: string; name?: string; file?: string; detail?: string }[]
}

export function NewSession() {
  const me = app.get().me
  const home = me?.home ?? ''
  const start = app.get().rows.find((r) => r.id === app.get().open?.id)?.cwd ?? me?.cwd ?? ''
  const [dir, setDir] = useState(start)
  const [under, setUnder] = useState(start)
  const [asks, setAsks] = useState<Untrusted>()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const list = useLoad(() => get<Folders>(`/folders?under=${encodeURIComponent(under)}`), [under])
  const field = useRef<HTMLInputElement>(null)

  const open = async (trust?: string) => {
    setBusy(true)
    setProblem('')
    try {
      const made = await api<{ id: string }>('POST', '/sessions', { cwd: dir, ...(trust ? { trust } : {}) })
      closeDialog()
      goTo(made.id)
      void loadRows()
    } catch (e) {
      if (e instanceof Refusal && e.code === 'untrusted') setAsks(e.body as Untrusted)
      else setProblem(e instanceof Error ? e.message : 'it could not be opened')
    } finally {
      setBusy(false)
    }
  }
  const choose = (d: string) => {
    setDir(d)
    setUnder(d)
    setAsks(undefined)
  }
  const join = (name: string) => (name.startsWith('/') || /^[A-Za-z]:/.test(name) ? name : `${(list.value?.dir ?? dir).replace(/[/\\]$/, '')}/${name}`)

  if (asks) return <Trust asks={asks} dir={dir} open={(t) => void open(t)} back={() => setAsks(undefined)} busy={busy} />
  return (
    <Dialog title="New session">
      <form
        class="fields"
        onSubmit={(e) => {
          e.preventDefault()
          void open()
        }}
      >
        <label class="field">
          <span>Folder</span>
          <input ref={field} class="mono" dir="ltr" spellcheck={false} autocomplete="off" value={dir} onInput={(e) => setDir(e.currentTarget.value)} onBlur={() => dir && setUnder(dir)} />
        </label>
        {list.value?.recent?.length ? (
          <div class="chips" role="group" aria-label="Folders used lately">
            {list.value.recent.slice(0, 6).map((r) => (
              <button key={r} type="button" class="small" onClick={() => choose(r)}>{line(folder(r, home))}</button>
            ))}
          </div>
        ) : null}
        <ul class="folders" aria-label={`Folders in ${line(list.value?.dir ?? under)}`}>
          {list.value?.parent && list.value.parent !== list.value.dir ? (
            <li><button type="button" class="quiet" onClick={() => choose(list.value?.parent ?? '')}>..</button></li>
          ) : null}
          {(list.value?.folders ?? []).map((f) => (
            <li key={f}>
              <button type="button" class="quiet" onClick={() => choose(join(f))}>{line(f.split(/[/\\]/).pop() || f)}</button>
            </li>
          ))}
        </ul>
        <Waiting of={list} />
        {problem ? <p class="line error" role="alert"><b>Not opened</b> {line(problem)}</p> : null}
        <div class="answers">
          <button type="submit" class="primary" disabled={!dir.trim() || busy}>Open</button>
          <button type="button" onClick={closeDialog}>Cancel</button>
        </div>
      </form>
    </Dialog>
  )
}

function Trust({ asks, dir, open, back, busy }: { asks: Untrusted; dir: string; open(trust: string): void; back(): void; busy: boolean }) {
  return (
    <Dialog title="This folder wants to run things">
      <p>
        <code><Exact text={asks.folder ?? dir} /></code> would do this by itself. Agree only if you know where the folder comes from.
      </p>
      <ul class="wants">
        {(asks.items ?? []).map((it, i) => (
          <li key={i}>
            <p><b>{line(it.kind ?? '')}</b> {line(it.name ?? '')} <span class="faint">{line(it.file ?? '')}</span></p>
            {it.detail ? <pre class="exact" dir="ltr"><Exact text={it.detail} /></pre> : null}
          </li>
        ))}
      </ul>
      <div class="answers">
        <button type="button" disabled={busy} onClick={() => open('none')}>Open without these</button>
        <button type="button" disabled={busy} onClick={() => open('once')}>Agree this once</button>
        <button type="button" disabled={busy} onClick={() => open('always')}>Agree, and remember</button>
        <button type="button" onClick={back}>Back</button>
      </div>
    </Dialog>
  )
}
