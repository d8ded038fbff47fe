// Shows a text exactly: what cannot be seen, moves what is seen, or only looks like a space is replaced by its name.

export interface Piece {
  text: string
  // '' is text as it is; 'mark' stands for a character; 'run' for a run of white space that would push text out of sight.
  kind: '' | 'mark' | 'run'
  label?: string
}

// Runs of at least this many spaces inside a line are shown as their number: code is indented by less, and nothing is aligned so far.
const longRun = 24
const longBreak = 6
const longTabs = 9

// Control and format characters, separators, surrogates without partner, private use, and spaces that are not the space bar's.
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u115f\u1160\u3164\uffa0\u2800\ufe00-\ufe0f\u034f]|[\u{e0100}-\u{e01ef}]/u

// mark writes a character as JSON does; so does hew everywhere else.
function mark(ch: string): string {
  let out = ''
  for (let i = 0; i < ch.length; i++) out += `\\u${ch.charCodeAt(i).toString(16).padStart(4, '0')}`
  return out
}

// exact splits a text into pieces; those of kind '' and the characters that the others stand for add up to it.
export function exact(text: string): Piece[] {
  const out: Piece[] = []
  let plain = ''
  const flush = () => {
    if (plain) out.push({ text: plain, kind: '' })
    plain = ''
  }
  const splitter = new RegExp(`( {${longRun},}|\\t{${longTabs},}|\\n{${longBreak},}|[ \\t]+(?=\\n|$))|(${unseen.source})`, 'gu')
  let at = 0
  for (const m of text.matchAll(splitter)) {
    const found = m[0]
    if (found === '\n' || (found === '\t' && !m[1])) continue
    plain += text.slice(at, m.index)
    flush()
    at = m.index + found.length
    if (m[1]) {
      const what = found[0] === '\n' ? 'line breaks' : at === text.length || text[at] === '\n' ? 'white space at the end of the line' : found[0] === '\t' ? 'tabs' : 'spaces'
      out.push({ text: found, kind: 'run', label: `${found.length} × ${what}` })
    } else {
      out.push({ text: found, kind: 'mark', label: mark(found) })
    }
  }
  plain += text.slice(at)
  flush()
  return out
}

// What acts on a screen instead of standing on it. Joiners and the marks of right-to-left prose act on their neighbours alone.
const steers = /(?![\n\t\u00ad\u061c\u200c-\u200f\u2060])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

// tame makes a text of one's own layout harmless: titles, names, prose. Line breaks and tabs stay.
export function tame(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(steers, mark)
}

// line is tame on one line, for titles and names.
export function line(text: string): string {
  return text.replace(/\s+/g, ' ').replace(new RegExp(unseen.source, 'gu'), mark).trim()
}
