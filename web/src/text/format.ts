// Numbers for people.

export function duration(ms: number): string {
  if (ms < 1000) return ms < 1 ? '' : `${Math.max(0.1, Math.round(ms / 100) / 10)} s`
  const s = Math.round(ms / 1000)
  if (s < 60) return `${ms < 10_000 ? (Math.round(ms / 100) / 10).toString() : s} s`
  const m = Math.floor(s / 60)
  if (m < 60) return `${m} min ${s % 60} s`
  return `${Math.floor(m / 60)} h ${m % 60} min`
}

export function tokens(n: number): string {
  if (n < 1000) return `${n}`
  return n < 100_000 ? `${(n / 1000).toFixed(1).replace(/\.0$/, '')}k` : `${Math.round(n / 1000)}k`
}

export function money(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2).replace(/(\.\d\d\d*?)0+$/, '$1')}`
}

export function ago(then: number, now: number): string {
  const s = Math.max(0, Math.round((now - then) / 1000))
  if (s < 60) return 'now'
  if (s < 3600) return `${Math.floor(s / 60)} min`
  if (s < 86_400) return `${Math.floor(s / 3600)} h`
  if (s < 86_400 * 30) return `${Math.floor(s / 86_400)} d`
  return new Date(then).toLocaleDateString(undefined, { year: 'numeric', month: 'short', day: 'numeric' })
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString()} ${n === 1 ? one : many}`
}

// folder shortens a path by the home folder.
export function folder(path: string, home: string): string {
  return home && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path
}
