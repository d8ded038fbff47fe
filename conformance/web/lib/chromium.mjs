// The machine's own Chromium; nothing is downloaded.
import fs from 'node:fs'
import path from 'node:path'

export function findChromium() {
  if (process.env.HEW_CHROMIUM) return process.env.HEW_CHROMIUM
  for (const dir of (process.env.PATH ?? '').split(path.delimiter)) {
    for (const name of ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']) {
      const file = path.join(dir, name)
      if (fs.existsSync(file)) return file
    }
  }
  return undefined
}

// node lib/chromium.mjs --at-hand: whether there is one
if (process.argv.includes('--at-hand')) process.exit(findChromium() ? 0 : 1)
