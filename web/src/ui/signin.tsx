// Coming in: with a password, or with a link that hew serve made; and making a link for another device.

import { useState } from 'preact/hooks'
import { api, Refusal } from '../api'
import { Dialog, useLoad, Waiting } from './dialog'
import { Mark } from './icon'
import { Copy } from './markdown'

// SignIn takes the password, or the link or token that hew serve printed.
export function SignIn() {
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (form: HTMLFormElement) => {
    const text = String(new FormData(form).get('secret') ?? '').trim()
    const token = /[?&]token=([^&\s#]+)/.exec(text)?.[1]
    setBusy(true)
    setProblem('')
    try {
      await api('POST', '/login', token ? { token: decodeURIComponent(token) } : { password: text })
      location.reload()
    } catch (e) {
      setProblem(e instanceof Refusal && e.code === 'too_many_tries' ? 'Too many tries. Wait a little.' : e instanceof Error ? e.message : 'It did not work.')
      setBusy(false)
    }
  }
  return (
    <div class="start">
      <div class="column">
        <h1>
          <Mark /> hew
        </h1>
        <p class="lead">Sign in</p>
        <form
          class="fields"
          onSubmit={(e) => {
            e.preventDefault()
            void submit(e.currentTarget)
          }}
        >
          <label class="field">
            <span>Password, or the link that hew serve printed</span>
            <input name="secret" type="password" autocomplete="current-password" required aria-describedby="signin-problem" />
          </label>
          <p id="signin-problem" class="line error" role="alert">{problem}</p>
          <div class="answers">
            <button type="submit" class="primary" disabled={busy}>Sign in</button>
          </div>
        </form>
      </div>
    </div>
  )
}

export function OtherDevice() {
  const link = useLoad(() => api<{ path: string; expires_ms: number }>('POST', '/links'), [])
  const url = link.value ? new URL(link.value.path, location.href).href : ''
  return (
    <Dialog title="Open on another device">
      <Waiting of={link} />
      {url ? (
        <>
          <p>This link works once, within {Math.round((link.value?.expires_ms ?? 0) / 60_000)} minutes. Whoever opens it can do everything that you can do here.</p>
          <p class="linkbox">
            <code>{url}</code> <Copy text={url} label="Copy the link" />
          </p>
          {/^(localhost|127\.|\[::1\])/.test(location.hostname) ? <p class="faint">This server listens on this machine only: the link opens here, in another browser.</p> : null}
        </>
      ) : null}
    </Dialog>
  )
}
