// A small highlighter: comments, strings, numbers, words of the language, names that are called. It never runs longer than the text is.

export interface Token {
  text: string
  kind: '' | 'comment' | 'string' | 'number' | 'word' | 'call' | 'type' | 'meta' | 'add' | 'del'
}

interface Language {
  words: Set<string>
  // starts of comments to the end of the line, pairs of comments, quotes; quotes in `long` run over lines
  line: string[]
  block?: [string, string]
  quotes: string
  long?: string[]
  fold?: boolean
}

const set = (s: string) => new Set(s.split(' '))
const c = { line: ['//'], block: ['/*', '*/'] as [string, string] }

const script =
  'abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface keyof let namespace new null of private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while with yield'

const table: Record<string, Language> = {
  go: { ...c, quotes: '"\'', long: ['`'], words: set('break case chan const continue default defer else fallthrough false for func go goto if import interface iota map nil package range return select struct switch true type var any string int bool byte error rune') },
  js: { ...c, quotes: '"\'', long: ['`'], words: set(script) },
  python: { line: ['#'], quotes: '"\'', long: ['"""', "'''"], words: set('False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield') },
  rust: { ...c, quotes: '"', words: set('as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while') },
  c: { ...c, quotes: '"\'', words: set('alignas auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false final float for friend goto if inline int long namespace new noexcept nullptr operator override private protected public return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while') },
  java: { ...c, quotes: '"\'', long: ['"""'], words: set('abstract as boolean break byte case catch char class companion const continue data default do double else enum extends false final finally float for fun if implements import in instanceof int interface internal is long native new null object open override package private protected public record return sealed short static super switch synchronized this throw throws true try val var void volatile when while') },
  csharp: { ...c, quotes: '"\'', words: set('abstract as async await base bool break case catch class const continue decimal default delegate do double else enum event false finally float for foreach get if in int interface internal is lock namespace new null object out override params private protected public readonly record ref return sealed set static string struct switch this throw true try typeof using var virtual void while yield') },
  ruby: { line: ['#'], quotes: '"\'`', words: set('BEGIN END alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield') },
  php: { line: ['//', '#'], block: ['/*', '*/'], quotes: '"\'', words: set('abstract and array as break case catch class const continue default do echo else elseif extends false final finally fn for foreach function if implements interface match namespace new null or private protected public return static switch this throw trait true try use var while yield') },
  swift: { ...c, quotes: '"', long: ['"""'], words: set('as break case catch class continue default defer do else enum extension false fileprivate for func guard if import in init inout internal is let mutating nil open operator private protocol public repeat return self static struct subscript super switch throw throws true try var where while') },
  bash: { line: ['#'], quotes: '"\'`', words: set('case do done elif else esac export fi for function if in local readonly return select set shift then trap unset until while cd echo exit source sudo') },
  sql: { line: ['--'], block: ['/*', '*/'], quotes: '\'"', fold: true, words: set('add all alter and as asc begin between by case check column commit constraint create cross database default delete desc distinct drop else end exists false foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction true union unique update using values view when where with') },
  json: { line: ['//'], quotes: '"', words: set('true false null') },
  yaml: { line: ['#'], quotes: '"\'', words: set('true false null yes no on off') },
  toml: { line: ['#'], quotes: '"\'', long: ['"""', "'''"], words: set('true false') },
  css: { line: [], block: ['/*', '*/'], quotes: '"\'', words: set('important media supports keyframes import layer container from to') },
  html: { line: [], block: ['<!--', '-->'], quotes: '"\'', words: set('') },
  lua: { line: ['--'], quotes: '"\'', words: set('and break do else elseif end false for function goto if in local nil not or repeat return then true until while') },
  make: { line: ['#'], quotes: '"\'', words: set('ifeq ifneq ifdef ifndef else endif include define endef export') },
}

const aliases: Record<string, string> = {
  golang: 'go', javascript: 'js', jsx: 'js', ts: 'js', tsx: 'js', typescript: 'js', mjs: 'js', cjs: 'js', mts: 'js', py: 'python', rs: 'rust', cpp: 'c', cc: 'c', h: 'c', hpp: 'c', 'c++': 'c',
  objc: 'c', kotlin: 'java', kt: 'java', scala: 'java', cs: 'csharp', 'c#': 'csharp', rb: 'ruby', sh: 'bash', shell: 'bash', zsh: 'bash', console: 'bash', fish: 'bash',
  jsonc: 'json', json5: 'json', jsonl: 'json', yml: 'yaml', ini: 'toml', conf: 'toml', scss: 'css', less: 'css', xml: 'html', svg: 'html', vue: 'html', svelte: 'html', makefile: 'make', mk: 'make', dockerfile: 'bash',
  mysql: 'sql', postgres: 'sql', sqlite: 'sql', patch: 'diff', udiff: 'diff',
}

// languageOf finds the language of a file by its name.
export function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  if (name === 'makefile' || name === 'dockerfile') return name
  return name.includes('.') ? name.slice(name.lastIndexOf('.') + 1) : ''
}

// The text that is longer is shown without colours: nobody reads so much of it, and every token is an element.
const most = 60_000

// highlight returns the tokens of a text; they add up to it.
export function highlight(text: string, language: string): Token[] {
  const name = aliases[language.toLowerCase()] ?? language.toLowerCase()
  if (name === 'diff') return diffLines(text)
  const l = Object.hasOwn(table, name) ? table[name] : undefined
  return l && text.length <= most ? tokens(text, l) : [{ text, kind: '' }]
}

function diffLines(text: string): Token[] {
  return text.split(/(?<=\n)/).map((t) => ({ text: t, kind: t[0] === '+' ? 'add' : t[0] === '-' ? 'del' : t.startsWith('@@') ? 'meta' : '' }))
}

function tokens(text: string, l: Language): Token[] {
  const out: Token[] = []
  let plainFrom = 0
  let i = 0
  const take = (end: number, kind: Token['kind']) => {
    if (plainFrom < i) out.push({ text: text.slice(plainFrom, i), kind: '' })
    out.push({ text: text.slice(i, end), kind })
    i = plainFrom = end
  }
  while (i < text.length) {
    const end = comment(text, i, l)
    if (end > i) {
      take(end, 'comment')
      continue
    }
    const closed = quoted(text, i, l)
    if (closed > i) {
      take(closed, 'string')
      continue
    }
    const code = text.charCodeAt(i)
    if (isDigit(code)) {
      let j = i + 1
      while (j < text.length && /[\w.]/.test(text[j] ?? '')) j++
      take(j, 'number')
    } else if (isLetter(code)) {
      let j = i + 1
      while (j < text.length && (isLetter(text.charCodeAt(j)) || isDigit(text.charCodeAt(j)))) j++
      const word = text.slice(i, j)
      const kind = l.words.has(l.fold ? word.toLowerCase() : word) ? 'word' : text[j] === '(' ? 'call' : /^[A-Z][A-Za-z0-9]*[a-z]/.test(word) ? 'type' : ''
      if (kind) take(j, kind)
      else i = j
    } else i++
  }
  if (plainFrom < text.length) out.push({ text: text.slice(plainFrom), kind: '' })
  return out
}

const isDigit = (code: number) => code >= 48 && code <= 57
const isLetter = (code: number) => (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code === 36 || code > 127

function comment(text: string, i: number, l: Language): number {
  for (const start of l.line) {
    if (!text.startsWith(start, i)) continue
    // A hash inside a word is none: ${#list}, a#b.
    if (start === '#' && i > 0 && !/[\s;]/.test(text[i - 1] ?? '')) continue
    const end = text.indexOf('\n', i)
    return end < 0 ? text.length : end
  }
  if (l.block && text.startsWith(l.block[0], i)) {
    const end = text.indexOf(l.block[1], i + l.block[0].length)
    return end < 0 ? text.length : end + l.block[1].length
  }
  return i
}

function quoted(text: string, i: number, l: Language): number {
  for (const q of l.long ?? []) {
    if (!text.startsWith(q, i)) continue
    const end = text.indexOf(q, i + q.length)
    return end < 0 ? text.length : end + q.length
  }
  const q = text[i] ?? ''
  if (!l.quotes.includes(q)) return i
  for (let j = i + 1; j < text.length; j++) {
    if (text[j] === '\\') j++
    else if (text[j] === q) return j + 1
    else if (text[j] === '\n') return i // not a string: an apostrophe in prose
  }
  return i
}
