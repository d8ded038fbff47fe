// Draws the tree of text/markdown with elements that are named here, and no others.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { highlight } from '../text/highlight'
import { safeLink, type Inline } from '../text/inline'
import { Growing, type Block } from '../text/markdown'
import { tame } from '../text/visible'
import { Icon } from './icon'
import { pure } from './pure'

export function Markdown({ text }: { text: string }) {
  const reader = useRef<Growing | undefined>(undefined)
  reader.current ??= new Growing()
  return (
    <div class="md">
      {reader.current.read(text).map((b, i) => (
        <BlockView key={i} block={b} />
      ))}
    </div>
  )
}

const BlockView = pure<{ block: Block }>(({ block }) => draw(block))

const list = (blocks: Block[]) => blocks.map((b, i) => <BlockView key={i} block={b} />)

function draw(b: Block): ComponentChildren {
  switch (b.kind) {
    case 'paragraph':
      return <p dir="auto">{inner(b.text)}</p>
    case 'heading': {
      // The page has a first and a second level of its own.
      const H = `h${Math.min(6, b.level + 2)}` as 'h3'
      return (
        <H dir="auto" class={`level-${b.level}`}>
          {inner(b.text)}
        </H>
      )
    }
    case 'code':
      return <Code text={b.text} language={b.language} />
    case 'quote':
      return <blockquote>{list(b.blocks)}</blockquote>
    case 'list':
      return items(b)
    case 'table':
      return table(b)
    case 'rule':
      return <hr />
  }
}

function items(b: Extract<Block, { kind: 'list' }>) {
  const children = b.items.map((item, i) => (
    <li key={i} class={item.done === undefined ? undefined : 'task'}>
      {item.done === undefined ? null : <span class={item.done ? 'box done' : 'box'} role="img" aria-label={item.done ? 'done' : 'open'} />}
      {item.blocks.map((x, k) => (b.tight && x.kind === 'paragraph' ? <span key={k} dir="auto">{inner(x.text)}</span> : <BlockView key={k} block={x} />))}
    </li>
  ))
  return b.ordered ? <ol start={b.start}>{children}</ol> : <ul>{children}</ul>
}

function table(b: Extract<Block, { kind: 'table' }>) {
  const cell = (i: number) => (b.align[i] ? `a-${b.align[i]}` : undefined)
  return (
    <Scroll class="table" label="Table">
      <table>
        <thead>
          <tr>
            {b.head.map((h, i) => (
              <th key={i} scope="col" class={cell(i)}>
                {inner(h)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {b.rows.map((r, i) => (
            <tr key={i}>
              {r.map((c, k) => (
                <td key={k} class={cell(k)}>
                  {inner(c)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function inner(parts: Inline[]): ComponentChildren {
  return parts.map((p, i) => {
    switch (p.kind) {
      case 'text':
        return tame(p.text)
      case 'code':
        return <code key={i}>{tame(p.text)}</code>
      case 'strong':
        return <strong key={i}>{inner(p.inner)}</strong>
      case 'em':
        return <em key={i}>{inner(p.inner)}</em>
      case 'del':
        return <del key={i}>{inner(p.inner)}</del>
      case 'break':
        return <br key={i} />
      case 'link':
        return (
          <Link key={i} href={p.href}>
            {inner(p.inner)}
          </Link>
        )
      case 'image':
        // Nothing is fetched from elsewhere: a picture is its address.
        return (
          <Link key={i} href={p.src}>
            <Icon name="picture" /> {tame(p.alt) || 'picture'}
          </Link>
        )
    }
  })
}

// Link leads away only to addresses of the web and of mail; others are shown as they were written.
function Link({ href, children }: { href: string; children: ComponentChildren }) {
  const to = safeLink(href)
  if (!to)
    return (
      <span class="nolink" title={tame(href).slice(0, 300)}>
        {children}
      </span>
    )
  return (
    <a href={to} target="_blank" rel="noopener noreferrer nofollow" title={to}>
      {children}
    </a>
  )
}

// Scroll is a box that scrolls sideways, and can be reached by keyboard while it does.
export function Scroll({ class: name, label, children }: { class: string; label: string; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null)
  const [wide, setWide] = useState(false)
  useEffect(() => {
    const el = box.current
    if (!el) return
    const look = () => setWide(el.scrollWidth > el.clientWidth + 1 || el.scrollHeight > el.clientHeight + 1)
    look()
    const watch = new ResizeObserver(look)
    watch.observe(el)
    return () => watch.disconnect()
  }, [children])
  return (
    <div ref={box} class={`scroll ${name}`} {...(wide ? { tabIndex: 0, role: 'group', 'aria-label': label } : {})}>
      {children}
    </div>
  )
}

export function Coloured({ text, language }: { text: string; language: string }) {
  return (
    <>
      {highlight(tame(text), language).map((t, i) => (t.kind ? <span key={i} class={`k-${t.kind}`}>{t.text}</span> : t.text))}
    </>
  )
}

export const Code = pure<{ text: string; language: string }>(({ text, language }) => (
  <figure class="code">
    <figcaption>
      <span>{tame(language).slice(0, 40)}</span>
      <Copy text={text} />
    </figcaption>
    <Scroll class="pre" label={language ? `${language} code` : 'Code'}>
      <pre>
        <code>
          <Coloured text={text} language={language} />
        </code>
      </pre>
    </Scroll>
  </figure>
))

export function Copy({ text, label }: { text: string; label?: string }) {
  const [done, setDone] = useState(false)
  useEffect(() => {
    if (!done) return
    const timer = setTimeout(() => setDone(false), 1600)
    return () => clearTimeout(timer)
  }, [done])
  return (
    <button
      type="button"
      class="quiet small"
      aria-label={done ? 'Copied' : (label ?? 'Copy code')}
      title={label ?? 'Copy'}
      onClick={() => void navigator.clipboard?.writeText(text).then(() => setDone(true))}
    >
      <Icon name={done ? 'check' : 'copy'} />
    </button>
  )
}
