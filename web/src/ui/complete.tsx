// Completion of @files and /commands in the composer: a list box that the text field steers.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { RefObject } from 'preact'
import type { Conversation } from '../conversation'
import { line } from '../text/visible'

interface Choice {
  // insert replaces the text from `from` to the caret
  insert: string
  name: string
  note: string
}

interface Command {
  name: string
  description?: string
  argumentHint?: string
  aliases?: string[]
}

interface Open {
  choices: Choice[]
  from: number
  at: number
}

export interface Completion {
  open: Open | undefined
  field: Record<string, string | boolean | undefined>
  pick(c: Choice): void
  key(e: KeyboardEvent): boolean
  look(): void
  close(): void
}

export function useCompletion(conversation: Conversation, area: RefObject<HTMLTextAreaElement | null>): Completion {
  const [open, setOpen] = useState<Open>()
  const asked = useRef(0)
  const commands = useRef<Promise<Command[]> | undefined>(undefined)
  useEffect(() => {
    commands.current = undefined
    setOpen(undefined)
  }, [conversation])

  const close = () => {
    asked.current++
    setOpen(undefined)
  }

  const look = () => {
    const el = area.current
    if (!el) return
    const text = el.value.slice(0, el.selectionStart)
    const slash = /^\/([^\s]*)$/.exec(text)
    const at = /(?:^|\s)@([^\s]*)$/.exec(text)
    if (!slash && !at) {
      if (open) close()
      return
    }
    const mine = ++asked.current
    const found = slash ? commandChoices(slash[1] ?? '') : fileChoices(at?.[1] ?? '')
    const from = slash ? 0 : text.length - (at?.[1] ?? '').length - 1
    void found
      .then((choices) => {
        if (mine === asked.current) setOpen(choices.length ? { choices, from, at: 0 } : undefined)
      })
      .catch(() => {})
  }

  const commandChoices = async (typed: string): Promise<Choice[]> => {
    commands.current ??= conversation.read<{ commands: Command[] }>('commands').then((r) => r.commands ?? [])
    const want = typed.toLowerCase().replace(/[:_-]/g, '')
    const fits = (name: string) => name.toLowerCase().replace(/[:_-]/g, '').startsWith(want) || name.toLowerCase().split(/[:_-]/).some((w) => w.startsWith(want))
    return (await commands.current)
      .filter((c) => fits(c.name) || (c.aliases ?? []).some(fits))
      .slice(0, 50)
      .map((c) => ({ insert: `/${c.name} `, name: `/${c.name}`, note: [c.argumentHint, c.description].filter(Boolean).join(' · ') }))
  }

  const fileChoices = async (typed: string): Promise<Choice[]> => {
    const answer = await conversation.read<{ files: string[] }>(`files?q=${encodeURIComponent(typed)}`)
    return (answer.files ?? []).slice(0, 30).map((f) => ({ insert: `@${f} `, name: f, note: '' }))
  }

  const pick = (c: Choice) => {
    const el = area.current
    if (!el || !open) return
    const end = el.selectionStart
    el.value = el.value.slice(0, open.from) + c.insert + el.value.slice(end)
    const caret = open.from + c.insert.length
    el.setSelectionRange(caret, caret)
    conversation.write(el.value)
    close()
    el.focus()
  }

  const key = (e: KeyboardEvent): boolean => {
    if (!open) return false
    const n = open.choices.length
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') setOpen({ ...open, at: (open.at + (e.key === 'ArrowDown' ? 1 : n - 1)) % n })
    else if (e.key === 'Tab' || e.key === 'Enter') {
      const c = open.choices[open.at]
      // A command that is typed whole is sent, not completed.
      if (!c || (e.key === 'Enter' && c.insert.trim() === area.current?.value.trim())) return false
      pick(c)
    } else if (e.key === 'Escape') close()
    else return false
    e.preventDefault()
    return true
  }

  const field = {
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-expanded': Boolean(open),
    'aria-controls': 'completion',
    'aria-activedescendant': open ? `c-${open.at}` : undefined,
  }
  return { open, field, pick, key, look, close }
}

export function Complete({ open, pick }: Completion) {
  const box = useRef<HTMLUListElement>(null)
  useEffect(() => box.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [open])
  return (
    <ul ref={box} id="completion" class="completion" role="listbox" aria-label="Suggestions" hidden={!open}>
      {open?.choices.map((c, i) => (
        <li
          key={c.name}
          id={`c-${i}`}
          role="option"
          aria-selected={i === open.at}
          onMouseDown={(e) => {
            e.preventDefault()
            pick(c)
          }}
        >
          <span class="name">{line(c.name)}</span>
          {c.note ? <span class="note">{line(c.note)}</span> : null}
        </li>
      ))}
    </ul>
  )
}
