// What checks share.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

// accessible runs axe over the page; what it calls serious or critical fails.
export async function accessible(page, where) {
  // A page's policy forbids scripts from elsewhere; the driver's evaluate is not bound by it.
  await page.evaluate(`${axe}; undefined`)
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }))
  const serious = found.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
  assert.deepEqual(serious.map((v) => `${where}: ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => `${n.target} ${n.failureSummary ?? ''}`).join(' | ')}`), [])
}

// until waits for something to become true.
export async function until(what, see, ms = 30_000) {
  const end = Date.now() + ms
  for (;;) {
    const v = await see()
    if (v) return v
    if (Date.now() > end) throw new Error(`did not come about: ${what}`)
    await new Promise((r) => setTimeout(r, 25))
  }
}

// narrow checks that nothing makes the page wider than the screen.
export async function narrow(page) {
  const wide = await page.evaluate(() => {
    const out = []
    if (document.documentElement.scrollWidth > innerWidth) out.push(`page ${document.documentElement.scrollWidth} > ${innerWidth}`)
    for (const el of document.querySelectorAll('main *, dialog[open] *')) {
      const r = el.getBoundingClientRect()
      // What scrolls sideways in a box of its own, and what only a screen reader sees, may be wider.
      if (r.width > 0 && r.right > innerWidth + 1 && !el.closest('.scroll, .sr, svg')) out.push(`${el.tagName}.${el.className} to ${Math.round(r.right)}`)
    }
    return out.slice(0, 5)
  })
  assert.deepEqual(wide, [])
}
