// Light, dark, or as the system says.

import { kept, Store, useStore } from '../store'
import { Icon } from './icon'

const order = ['auto', 'light', 'dark'] as const
type Theme = (typeof order)[number]

const theme = new Store<Theme>(order.find((t) => t === kept.get('theme')) ?? 'auto')

export function showTheme(): void {
  const t = theme.get()
  document.documentElement.dataset.theme = t
  const dark = t === 'dark' || (t === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.querySelector('meta[name=theme-color]')?.setAttribute('content', dark ? '#16181b' : '#f6f6f4')
}

export function nextTheme(): void {
  const t = order[(order.indexOf(theme.get()) + 1) % order.length] ?? 'auto'
  theme.set(t)
  kept.set('theme', t === 'auto' ? '' : t)
  showTheme()
}

export function ThemeSwitch() {
  const t = useStore(theme, (v) => v)
  const words = { auto: 'as the system', light: 'light', dark: 'dark' }[t]
  return (
    <button type="button" class="quiet" onClick={nextTheme} aria-label={`Colours: ${words}. Change`} title={`Colours: ${words}`}>
      <Icon name={t === 'light' ? 'sun' : t === 'dark' ? 'moon' : 'auto'} />
    </button>
  )
}
