// Where a person writes: prompts, pictures, completion of files and commands.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Conversation, Picture } from '../conversation'
import { useStore } from '../store'
import { Complete, useCompletion } from './complete'
import { Icon } from './icon'
import { ModeChoice, ModelChoice } from './choices'

const maxPicture = 8 << 20

export function Composer({ conversation }: { conversation: Conversation }) {
  const draft = useStore(conversation.draft, (d) => d)
  const busy = useStore(conversation.talk, (t) => t.run.busy)
  const readOnly = useStore(conversation.readOnly, (v) => v)
  const [pictures, setPictures] = useState<Picture[]>([])
  const [problem, setProblem] = useState('')
  const area = useRef<HTMLTextAreaElement>(null)
  const past = useRef<{ at: number; kept: string }>({ at: -1, kept: '' })
  const completion = useCompletion(conversation, area)

  useLayoutEffect(() => {
    const el = area.current
    if (!el) return
    if (el.value !== draft.text) el.value = draft.text
    fit(el)
  }, [draft.text, draft.foreign])

  useEffect(() => {
    // On a phone the keyboard would cover the conversation.
    if (matchMedia('(pointer: fine)').matches && !document.querySelector('[data-ask]')) area.current?.focus()
  }, [conversation])

  const write = (text: string) => {
    conversation.write(text)
    if (area.current) {
      area.current.value = text
      fit(area.current)
    }
  }

  const send = () => {
    const text = (area.current?.value ?? '').trim()
    if (!text && !pictures.length) return
    conversation.say(text, pictures)
    past.current = { at: -1, kept: '' }
    setPictures([])
    setProblem('')
    completion.close()
    write('')
    document.querySelector('[data-transcript]')?.scrollTo({ top: 1e9 })
  }

  const walk = (back: boolean): boolean => {
    const el = area.current!
    const edge = back ? el.value.slice(0, el.selectionStart).includes('\n') : el.value.slice(el.selectionEnd).includes('\n')
    if (edge || el.selectionStart !== el.selectionEnd) return false
    const said = conversation.talk.get().items.flatMap((i) => (i.kind === 'prompt' ? [i.text] : [])).reverse()
    const next = past.current.at + (back ? 1 : -1)
    if (next >= said.length || next < -1 || (past.current.at < 0 && !back)) return false
    if (past.current.at < 0) past.current.kept = el.value
    past.current.at = next
    write(next < 0 ? past.current.kept : (said[next] ?? ''))
    return true
  }

  const key = (e: KeyboardEvent) => {
    if (e.isComposing || completion.key(e)) return
    if (e.key === 'Enter' && !e.shiftKey && !e.altKey) {
      e.preventDefault()
      send()
    } else if (e.key === 'Escape' && busy) {
      e.preventDefault()
      void conversation.ask('interrupt').catch(() => {})
    } else if ((e.key === 'ArrowUp' || e.key === 'ArrowDown') && !e.ctrlKey && !e.metaKey && !e.altKey && !e.shiftKey) {
      if (walk(e.key === 'ArrowUp')) e.preventDefault()
    }
  }

  const take = async (files: Iterable<File>) => {
    for (const f of files) {
      if (!/^image\/(png|jpeg|gif|webp)$/.test(f.type)) setProblem(`${f.name || 'This'} is not a picture; name files with @ instead`)
      else if (f.size > maxPicture) setProblem(`${f.name || 'This picture'} is larger than 8 MB`)
      else {
        const data = await base64(f)
        setPictures((had) => [...had, { name: f.name || 'picture', media: f.type, data }])
      }
    }
  }

  const chosen = (input: HTMLInputElement) => {
    void take([...(input.files ?? [])])
    input.value = '' // the same file can be chosen again
  }

  if (readOnly) return <p class="composer readonly"><Icon name="lock" /> This server shows sessions and changes nothing (--read-only).</p>
  return (
    <form
      class="composer"
      aria-label="Write to hew"
      onSubmit={(e) => {
        e.preventDefault()
        send()
      }}
      onDragOver={(e) => e.preventDefault()}
      onDrop={(e) => {
        e.preventDefault()
        void take(e.dataTransfer?.files ?? [])
      }}
    >
      <Complete {...completion} />
      {pictures.length ? (
        <ul class="attached" aria-label="Attached pictures">
          {pictures.map((p, i) => (
            <li key={i}>
              <img src={`data:${p.media};base64,${p.data}`} alt={p.name} />
              <button type="button" class="quiet small" aria-label={`Remove ${p.name}`} onClick={() => setPictures(pictures.filter((_, k) => k !== i))}>
                <Icon name="cross" />
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      {problem ? <p class="line warning" role="alert">{problem}</p> : null}
      <textarea
        ref={area}
        data-composer
        rows={1}
        dir="auto"
        aria-label="Message"
        placeholder={busy ? 'Steer it: this joins after the running step' : 'Say what should be done'}
        {...completion.field}
        onInput={(e) => {
          conversation.write(e.currentTarget.value)
          past.current.at = -1
          fit(e.currentTarget)
          completion.look()
        }}
        onKeyDown={key}
        onSelect={() => completion.look()}
        onBlur={() => completion.close()}
        onPaste={(e) => {
          const files = [...(e.clipboardData?.files ?? [])]
          if (files.length) {
            e.preventDefault()
            void take(files)
          }
        }}
      />
      <div class="tools">
        <label class="button quiet" title="Attach a picture">
          <input type="file" accept="image/png,image/jpeg,image/gif,image/webp" multiple class="sr" aria-label="Attach a picture" onChange={(e) => chosen(e.currentTarget)} />
          <Icon name="picture" />
        </label>
        <ModeChoice conversation={conversation} />
        <ModelChoice conversation={conversation} />
        <span class="gap" />
        {busy ? (
          <button type="button" class="stop" onClick={() => void conversation.ask('interrupt').catch(() => {})} title="Interrupt (Esc)">
            <Icon name="stop" /> <span>Stop</span>
          </button>
        ) : null}
        <button type="submit" class="send" aria-label={busy ? 'Send while it works' : 'Send'} title="Send (Enter)" disabled={!draft.text.trim() && !pictures.length}>
          <Icon name="up" />
        </button>
      </div>
    </form>
  )
}

function fit(el: HTMLTextAreaElement) {
  el.style.height = 'auto'
  el.style.height = `${el.scrollHeight}px`
}

function base64(f: File): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader()
    reader.onload = () => done(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => failed(reader.error ?? new Error('the picture cannot be read'))
    reader.readAsDataURL(f)
  })
}
