// The conversation on the screen. Of a long one a part is drawn, which moves along when a person scrolls.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Conversation } from '../conversation'
import { useStore } from '../store'
import { plural } from '../text/format'
import { Icon } from './icon'
import { ItemView } from './items'
import { Waitings } from './waiting'

// Items drawn at first, added when an end comes near, and at most.
const first = 60
const step = 60
const most = 240

// from and to are places in the whole conversation; to is Infinity while the end is followed.
interface Part {
  from: number
  to: number
}

export function Transcript({ conversation }: { conversation: Conversation }) {
  const talk = useStore(conversation.talk, (t) => t)
  const box = useRef<HTMLDivElement>(null)
  const [part, setPart] = useState<Part>()
  const [away, setAway] = useState(false)
  const anchor = useRef<{ id: string; top: number } | undefined>(undefined)
  const following = useRef(true)
  const total = talk.before + talk.items.length

  let from = Math.max(talk.before, Math.min(part?.from ?? Infinity, total - 1 < 0 ? 0 : total))
  if (!part) from = Math.max(talk.before, total - first)
  const to = Math.min(part?.to ?? Infinity, total)
  if (to === total && following.current && total - from > most) from = total - first
  const shown = talk.items.slice(from - talk.before, to - talk.before)
  const end = to >= total

  useLayoutEffect(() => {
    const el = box.current
    if (!el) return
    if (anchor.current) {
      const held = document.getElementById(`i-${anchor.current.id}`)
      if (held) el.scrollTop += held.getBoundingClientRect().top - anchor.current.top
      anchor.current = undefined
    } else if (following.current && end) el.scrollTop = el.scrollHeight
  })

  // What is drawn grows without being drawn again: pictures load, a fold opens, the window gets narrow.
  useEffect(() => {
    const el = box.current
    const inside = el?.firstElementChild
    if (!el || !inside) return
    const watch = new ResizeObserver(() => {
      if (following.current) el.scrollTop = el.scrollHeight
    })
    watch.observe(inside)
    watch.observe(el)
    return () => watch.disconnect()
  }, [])

  const hold = () => {
    const top = box.current?.getBoundingClientRect().top ?? 0
    for (const el of box.current?.querySelectorAll<HTMLElement>('article.item') ?? []) {
      const r = el.getBoundingClientRect()
      if (r.bottom > top) {
        anchor.current = { id: el.dataset.id ?? '', top: r.top }
        return
      }
    }
  }

  const scrolled = () => {
    const el = box.current
    if (!el) return
    const below = el.scrollHeight - el.scrollTop - el.clientHeight
    following.current = end && below < 40
    setAway(!end || below > 400)
    if (el.scrollTop < 600 && from > 0) {
      if (from > talk.before) {
        hold()
        const next = Math.max(talk.before, from - step)
        setPart({ from: next, to: following.current ? Infinity : Math.min(total, Math.max(next + most, from + 1)) })
      }
      if (from - 2 * step <= talk.before && talk.before > 0) void conversation.loadOlder().catch(() => {})
    } else if (!end && below < 600) {
      hold()
      const next = Math.min(total, to + step)
      setPart({ from: Math.max(talk.before, Math.min(from, next - most)), to: next >= total ? Infinity : next })
      if (next - most > from) setPart({ from: next - most, to: next >= total ? Infinity : next })
    }
  }

  // Older items came, or more is drawn, and the top may still be near: nobody has to scroll for that.
  useEffect(() => {
    if (!following.current) scrolled()
  }, [talk.before, part])

  const latest = () => {
    following.current = true
    setPart(undefined)
    setAway(false)
    requestAnimationFrame(() => box.current?.scrollTo({ top: box.current.scrollHeight }))
  }

  return (
    <div class="scroller" ref={box} onScroll={scrolled} tabIndex={0} role="region" aria-label="Conversation" data-transcript>
      <div class="column">
        {from > 0 ? <p class="faint more" role="status">{plural(from, 'earlier item')} above</p> : null}
        <div class="feed" role="feed" aria-label="Messages" aria-busy={talk.run.busy}>
          {shown.map((item, i) => (
            <ItemView key={item.id} item={item} session={talk.id} place={from + i + 1} size={total + talk.live.length} />
          ))}
          {end ? talk.live.map((item, i) => <ItemView key={item.id} item={item} session={talk.id} place={total + i + 1} size={total + talk.live.length} />) : null}
        </div>
        {end ? <Waitings conversation={conversation} /> : null}
        {end && talk.known && !total && !talk.live.length ? <Empty /> : null}
      </div>
      {away ? (
        <button type="button" class="latest" onClick={latest}>
          <Icon name="down" /> Latest
        </button>
      ) : null}
    </div>
  )
}

function Empty() {
  return (
    <div class="empty">
      <p class="lead">What should be done here?</p>
      <p class="faint">
        Say it below. <kbd>@</kbd> names a file, <kbd>/</kbd> a command. hew asks before it changes anything that you have not allowed.
      </p>
    </div>
  )
}
