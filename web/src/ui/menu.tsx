// A button that opens a short list of actions.

import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icon'

export interface MenuEntry {
  name: string
  run(): void
}

export function Menu({ label, entries, icon = 'dots', reachable = true }: { label: string; entries: MenuEntry[]; icon?: IconName; reachable?: boolean }) {
  const [open, setOpen] = useState(false)
  const root = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (!open) return
    root.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus()
    const outside = (e: Event) => {
      if (!root.current?.contains(e.target as Node)) setOpen(false)
    }
    document.addEventListener('pointerdown', outside)
    return () => document.removeEventListener('pointerdown', outside)
  }, [open])
  const key = (e: KeyboardEvent) => {
    if (!open) return
    const all = [...(root.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]
    const at = all.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowDown: (at + 1) % all.length, ArrowUp: (at + all.length - 1) % all.length, Home: 0, End: all.length - 1 }[e.key]
    if (to !== undefined) {
      e.preventDefault()
      e.stopPropagation()
      all[to]?.focus()
    } else if (e.key === 'Escape' || e.key === 'Tab') {
      e.stopPropagation()
      setOpen(false)
      root.current?.querySelector('button')?.focus()
    }
  }
  return (
    <span class={open ? 'menu open' : 'menu'} ref={root} onKeyDown={key}>
      <button type="button" class="quiet small" aria-label={label} aria-haspopup="menu" aria-expanded={open} tabIndex={reachable ? 0 : -1} onClick={() => setOpen(!open)}>
        <Icon name={icon} />
      </button>
      {open ? (
        <div role="menu" aria-label={label}>
          {entries.map((e) => (
            <button
              key={e.name}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                setOpen(false)
                e.run()
              }}
            >
              {e.name}
            </button>
          ))}
        </div>
      ) : null}
    </span>
  )
}
