// A window above the page. The browser keeps the focus in it and gives it back.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { app } from '../app'
import { Icon } from './icon'

export const closeDialog = () => app.patch({ dialog: '' })

export function Dialog({ title, children, wide }: { title: string; children: ComponentChildren; wide?: boolean }) {
  const box = useRef<HTMLDialogElement>(null)
  // A dialog that gives way to the next one closes, too; that is not the person's wish to leave.
  const gone = useRef(false)
  useEffect(() => {
    const el = box.current
    gone.current = false
    if (el && !el.open) el.showModal()
    return () => {
      gone.current = true
      el?.close()
    }
  }, [])
  return (
    <dialog
      ref={box}
      class={wide ? 'wide' : ''}
      aria-label={title}
      onClose={() => gone.current || closeDialog()}
      onClick={(e) => {
        if (e.target === box.current) closeDialog()
      }}
    >
      <div class="sheet">
        <header>
          <h2>{title}</h2>
          <button type="button" class="quiet" aria-label="Close" onClick={closeDialog}>
            <Icon name="cross" />
          </button>
        </header>
        <div class="content" tabIndex={0} role="group" aria-label={title}>{children}</div>
      </div>
    </dialog>
  )
}

export interface Loaded<T> {
  value?: T
  failed?: string
}

// useLoad asks once, and again when one of the marks changes.
export function useLoad<T>(ask: () => Promise<T>, marks: unknown[]): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({})
  useEffect(() => {
    let here = true
    setState({})
    ask().then(
      (value) => here && setState({ value }),
      (e: Error) => here && setState({ failed: e.message }),
    )
    return () => {
      here = false
    }
  }, marks)
  return state
}

export function Waiting({ of }: { of: Loaded<unknown> }) {
  if (of.failed) return <p class="line error" role="alert"><b>Not shown</b> {of.failed}</p>
  return of.value === undefined ? <p class="faint" role="status">Reading … (while hew works, this comes when the run is over)</p> : null
}
