import { render } from 'preact'
import { begin } from './app'
import { listenForKeys } from './ui/keys'
import { Page } from './ui/page'
import { showTheme } from './ui/theme'
import './styles/app.css'

showTheme()
const root = document.getElementById('app')
if (root) render(<Page />, root)
listenForKeys()
void begin()
if ('serviceWorker' in navigator && isSecureContext) void navigator.serviceWorker.register('/sw.js').catch(() => {})
