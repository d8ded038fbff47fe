// Says something to a screen reader.

let timer = 0

export function say(text: string, how: 'polite' | 'urgent' = 'polite'): void {
  const el = document.getElementById(how)
  if (!el) return
  // The same words twice are only heard when the region was empty between.
  el.textContent = ''
  clearTimeout(timer)
  timer = window.setTimeout(() => (el.textContent = text), 60)
}
