// Hunks as rows for the two ways of showing a change, with the changed part of a pair of lines marked.

import type { Hunk } from '../wire'

export interface Side {
  number: number
  text: string
  // the part that differs from the other side, from and to
  mark?: [number, number]
}

export interface DiffRow {
  kind: 'same' | 'add' | 'del' | 'change' | 'gap'
  old?: Side
  now?: Side
  // of a gap: how many lines are left out
  skipped?: number
}

export function rows(hunks: Hunk[]): DiffRow[] {
  const out: DiffRow[] = []
  let last = 1
  for (const h of hunks) {
    if (h.oldStart > last) out.push({ kind: 'gap', skipped: h.oldStart - last })
    let o = h.oldStart
    let n = h.newStart
    let dels: Side[] = []
    let adds: Side[] = []
    const flush = () => {
      const pairs = Math.min(dels.length, adds.length)
      for (let i = 0; i < Math.max(dels.length, adds.length); i++) {
        const a = dels[i]
        const b = adds[i]
        if (i < pairs && a && b) {
          const m = differing(a.text, b.text)
          if (m) [a.mark, b.mark] = m
        }
        out.push({ kind: a && b ? 'change' : a ? 'del' : 'add', old: a, now: b })
      }
      dels = []
      adds = []
    }
    for (const l of h.lines) {
      const text = l.slice(1)
      if (l[0] === '-') dels.push({ number: o++, text })
      else if (l[0] === '+') adds.push({ number: n++, text })
      else if (l[0] === '\\') continue
      else {
        flush()
        out.push({ kind: 'same', old: { number: o++, text }, now: { number: n++, text } })
      }
    }
    flush()
    last = h.oldStart + h.oldLines
  }
  return out
}

// differing finds the middle in which two lines differ; undefined when they have little in common.
function differing(a: string, b: string): [[number, number], [number, number]] | undefined {
  let head = 0
  const short = Math.min(a.length, b.length)
  while (head < short && a[head] === b[head]) head++
  let tail = 0
  while (tail < short - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const common = a.slice(0, head).trim().length + a.slice(a.length - tail).trim().length
  if (common < Math.max(a.trim().length, b.trim().length) * 0.3) return undefined
  return [
    [head, a.length - tail],
    [head, b.length - tail],
  ]
}

export function counts(hunks: Hunk[]): { added: number; removed: number } {
  let added = 0
  let removed = 0
  for (const h of hunks) for (const l of h.lines) l[0] === '+' ? added++ : l[0] === '-' ? removed++ : 0
  return { added, removed }
}

// whole is a file that did not exist, as a hunk.
export function whole(text: string): Hunk[] {
  const lines = text.replace(/\n$/, '').split('\n')
  return [{ oldStart: 1, oldLines: 0, newStart: 1, newLines: lines.length, lines: lines.map((l) => `+${l}`) }]
}
