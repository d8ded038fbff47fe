// Terminal output as text with colours. Nothing but colours and weights survives: no titles, links, clipboard or cursor moves.

export interface Span {
  text: string
  // class names, '' for plain
  look: string
}

interface Pen {
  fg: string
  bold: boolean
  dim: boolean
  italic: boolean
  under: boolean
  inverse: boolean
}

const plainPen: Pen = { fg: '', bold: false, dim: false, italic: false, under: false, inverse: false }
const colours = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']

// CSI, OSC and other strings, two-byte escapes, then lone control characters.
const sequence = /\x1b\[([0-9;:?<=>!]*)[ -/]*([@-~])|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)|\x9b([0-9;:?<=>!]*)[ -/]*([@-~])|\x1b[ -/]*[0-~]?/g

// A colour of the cube or of 24 bits becomes the nearest of the eight: the page's themes know these, and keep them readable.
function nearest(r: number, g: number, b: number): string {
  const top = Math.max(r, g, b)
  const low = Math.min(r, g, b)
  if (top - low < 40) return top < 90 ? 'black' : top > 180 ? '' : 'white'
  const cut = (top + low) / 2
  return colours[(r > cut ? 1 : 0) + (g > cut ? 2 : 0) + (b > cut ? 4 : 0)] ?? ''
}

function indexed(n: number): string {
  if (n < 16) return colours[n % 8] ?? ''
  if (n >= 232) return nearest((n - 232) * 10, (n - 232) * 10, (n - 232) * 10)
  const c = n - 16
  return nearest(Math.floor(c / 36) * 51, (Math.floor(c / 6) % 6) * 51, (c % 6) * 51)
}

function pen(was: Pen, params: string): Pen {
  let p = { ...was }
  const codes = params.split(/[;:]/).map(Number)
  for (let i = 0; i < codes.length; i++) {
    const c = codes[i] ?? 0
    if (c === 0) p = { ...plainPen }
    else if (c === 1) p.bold = true
    else if (c === 2) p.dim = true
    else if (c === 3) p.italic = true
    else if (c === 4) p.under = true
    else if (c === 7) p.inverse = true
    else if (c === 22) p.bold = p.dim = false
    else if (c === 23) p.italic = false
    else if (c === 24) p.under = false
    else if (c === 27) p.inverse = false
    else if (c === 39) p.fg = ''
    else if (c >= 30 && c <= 37) p.fg = colours[c - 30] ?? ''
    else if (c >= 90 && c <= 97) p.fg = colours[c - 90] ?? ''
    else if (c === 38 || c === 48) {
      const colour = codes[i + 1] === 5 ? indexed(codes[i + 2] ?? 0) : nearest(codes[i + 2] ?? 0, codes[i + 3] ?? 0, codes[i + 4] ?? 0)
      if (c === 38) p.fg = colour
      i += codes[i + 1] === 5 ? 2 : 4
    }
  }
  return p
}

function look(p: Pen): string {
  const out = []
  if (p.fg) out.push(`t-${p.fg}`)
  if (p.bold) out.push('t-bold')
  if (p.dim) out.push('t-dim')
  if (p.italic) out.push('t-italic')
  if (p.under) out.push('t-under')
  if (p.inverse) out.push('t-inverse')
  return out.join(' ')
}

interface Cell {
  ch: string
  look: string
}

// overwritten plays carriage returns and backspaces of one line, as a terminal shows it in the end.
function overwritten(spans: Span[]): Span[] {
  if (!spans.some((s) => /[\r\b]/.test(s.text))) return spans
  const cells: Cell[] = []
  let at = 0
  for (const s of spans) {
    for (const ch of s.text) {
      if (ch === '\r') at = 0
      else if (ch === '\b') at = Math.max(0, at - 1)
      else cells[at++] = { ch, look: s.look }
    }
  }
  const out: Span[] = []
  for (const c of cells) {
    const last = out[out.length - 1]
    if (last && last.look === c.look) last.text += c.ch
    else out.push({ text: c.ch, look: c.look })
  }
  return out
}

// terminal returns the lines of an output.
export function terminal(output: string): Span[][] {
  const lines: Span[][] = []
  let current: Span[] = []
  let p = plainPen
  const write = (raw: string) => {
    const text = raw.replace(/[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]/g, '').replace(/[\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
    const parts = text.split(/\r?\n/)
    parts.forEach((part, i) => {
      if (i > 0) {
        lines.push(overwritten(current))
        current = []
      }
      if (part) current.push({ text: part, look: look(p) })
    })
  }
  let at = 0
  for (const m of output.matchAll(sequence)) {
    write(output.slice(at, m.index))
    at = m.index + m[0].length
    if ((m[2] ?? m[4]) === 'm' && !/[?<=>!]/.test(m[1] ?? m[3] ?? '')) p = pen(p, m[1] ?? m[3] ?? '')
    if ((m[2] ?? m[4]) === 'K') write('')
  }
  write(output.slice(at))
  if (current.length) lines.push(overwritten(current))
  return lines
}
