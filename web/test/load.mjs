// A module of the sources, compiled in memory.
import { build } from 'esbuild'

export async function load(path) {
  const out = await build({ entryPoints: [new URL(`../${path}`, import.meta.url).pathname], bundle: true, format: 'esm', write: false, jsx: 'automatic', jsxImportSource: 'preact' })
  return import(`data:text/javascript;base64,${Buffer.from(out.outputFiles[0].contents).toString('base64')}`)
}
