// Builds the page into internal/surface/web/assets. The same sources give the same bytes.
//   node build.mjs            writes the assets
//   node build.mjs --check    fails when they are not the build of the sources
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, writeFileSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const here = dirname(fileURLToPath(import.meta.url))
const target = join(here, '../internal/surface/web/assets')
const most = 400 * 1024 // bytes, compressed
const unnamed = 'PAGE-NAME-OF-THIS-BUILD'

const result = await build({
  absWorkingDir: here,
  entryPoints: { app: 'src/main.tsx' },
  outdir: 'out',
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022', 'chrome109', 'firefox115', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  define: { PAGE_NAME: JSON.stringify(unnamed) },
  legalComments: 'none',
  charset: 'utf8',
  write: false,
})

const files = new Map()
for (const f of result.outputFiles) files.set(f.path.split(/[\\/]/).pop(), Buffer.from(f.contents))
for (const name of ['index.html', 'manifest.webmanifest', 'icon.svg', 'icon-192.png', 'icon-512.png', 'sw.js']) files.set(name, readFileSync(join(here, 'src', name)))

// The page's name is a digest of everything in it; it is filled in at the end.
const digest = createHash('sha256')
for (const [name, data] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) digest.update(`${name}\0${data.length}\0`).update(data)
const page = digest.digest('hex').slice(0, 16)
const put = (name, from) => files.set(name, Buffer.from(files.get(name).toString().replaceAll(from, page)))
put('app.js', unnamed)
put('sw.js', 'PAGE_NAME')
files.set('page.txt', Buffer.from(`${page}\n`))

const size = [...files.values()].reduce((n, data) => n + gzipSync(data, { level: 9 }).length, 0)
if (size > most) {
  console.error(`the page is ${size} bytes compressed, more than ${most}`)
  process.exit(1)
}

if (process.argv.includes('--check')) {
  const there = readdirSync(target).sort()
  const wanted = [...files.keys()].sort()
  const differing = wanted.filter((n) => !there.includes(n) || !readFileSync(join(target, n)).equals(files.get(n)))
  const extra = there.filter((n) => !wanted.includes(n))
  if (differing.length || extra.length) {
    console.error(`internal/surface/web/assets is not the build of web/ (${[...differing, ...extra].join(', ')}); run: make web`)
    process.exit(1)
  }
  console.log(`the embedded page ${page} is the build of web/: ${files.size} files, ${size} bytes compressed of ${most}`)
} else {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  for (const [name, data] of files) writeFileSync(join(target, name), data)
  console.log(`page ${page}: ${files.size} files, ${size} bytes compressed of ${most}`)
}
