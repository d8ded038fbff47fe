// The keys of the page; docs/serve.md has the same table.

import { app } from '../app'
import { modes } from './choices'

export const keys: { name: string; keys: [string, string][] }[] = [
  {
    name: 'Writing',
    keys: [
      ['Enter', 'send; while hew works, the message joins after the running step'],
      ['Shift+Enter', 'a new line'],
      ['Esc', 'interrupt'],
      ['↑ or ↓', 'earlier messages, at the first or last line'],
      ['@ or /', 'complete a file or a command; Tab takes it'],
    ],
  },
  {
    name: 'A question of hew',
    keys: [
      ['Alt+A', 'go to it'],
      ['1 … 3', 'answer'],
      ['Esc', 'no'],
    ],
  },
  {
    name: 'Everywhere',
    keys: [
      ['Alt+I', 'to the message field'],
      ['Alt+T', 'to the conversation'],
      ['J or K', 'next and previous item, in the conversation'],
      ['Alt+K', 'find a session'],
      ['Alt+N', 'new session'],
      ['Alt+M', 'next permission mode'],
      ['Alt+D', 'details'],
      ['Alt+Z', 'go back to an earlier point'],
      ['Alt+C', 'what fills the window'],
      ['Alt+S', 'settings and rules'],
      ['?', 'this list'],
    ],
  },
]

const focus = (selector: string) => document.querySelector<HTMLElement>(selector)?.focus()

function alt(code: string): (() => void) | undefined {
  const { open, panel, dialog, me } = app.get()
  switch (code) {
    case 'KeyA':
      return () => focus('[data-ask]')
    case 'KeyI':
      return () => focus('[data-composer]')
    case 'KeyT':
      return () => focus('[data-transcript]')
    case 'KeyK':
      return () => {
        app.patch({ panel: 'sessions' })
        requestAnimationFrame(() => focus('[data-find]'))
      }
    case 'KeyN':
      return me?.read_only ? undefined : () => app.patch({ dialog: 'new' })
    case 'KeyM':
      return open ? nextMode : undefined
    case 'KeyD':
      return open ? () => app.patch({ panel: panel === 'details' ? '' : 'details' }) : undefined
    case 'KeyZ':
      return open && !dialog ? () => app.patch({ dialog: 'rewind' }) : undefined
    case 'KeyC':
      return open && !dialog ? () => app.patch({ dialog: 'context' }) : undefined
    case 'KeyS':
      return open && !dialog ? () => app.patch({ dialog: 'settings' }) : undefined
  }
  return undefined
}

function nextMode() {
  const select = document.querySelector<HTMLSelectElement>('[data-mode]')
  if (!select) return
  select.selectedIndex = (select.selectedIndex + 1) % select.options.length
  select.dispatchEvent(new Event('change', { bubbles: true }))
  const name = modes[select.value]
  if (name) document.getElementById('polite')!.textContent = `Permission mode: ${name}`
}

// walk moves the focus among the items of the conversation.
function walk(by: number): boolean {
  const all = [...document.querySelectorAll<HTMLElement>('article.item')]
  const at = all.findIndex((a) => a.contains(document.activeElement))
  const to = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by]
  to?.focus()
  to?.scrollIntoView({ block: 'nearest' })
  return Boolean(to)
}

export function listenForKeys(): void {
  addEventListener('keydown', (e) => {
    if (e.defaultPrevented || e.isComposing || e.ctrlKey || e.metaKey) return
    if (e.altKey) {
      const run = alt(e.code)
      if (!run) return
      e.preventDefault()
      run()
      return
    }
    const target = e.target as HTMLElement
    if (target.closest('input, textarea, select, dialog, [role=menu]')) return
    if (e.key === '?') {
      e.preventDefault()
      app.patch({ dialog: 'keys' })
    } else if ((e.key === 'j' || e.key === 'k') && target.closest('[data-transcript]')) {
      if (walk(e.key === 'j' ? 1 : -1)) e.preventDefault()
    } else if (e.key === 'Escape' && app.get().panel) app.patch({ panel: '' })
  })
}
