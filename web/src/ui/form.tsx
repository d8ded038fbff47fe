// What an MCP server, or hew itself, wants to know: a form with simple values, an address to visit, a yes or no.

import { useState } from 'preact/hooks'
import { safeLink } from '../text/inline'
import { line, tame } from '../text/visible'
import type { Json, Obj } from '../wire'
import { Answer, type AskProps } from './asks'
import { Exact } from './views'

interface Field {
  type?: string
  title?: string
  description?: string
  enum?: Json[]
  enumNames?: string[]
  default?: Json
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  format?: string
}

export function Form({ q, readOnly, answer }: AskProps) {
  const r = q.request
  const schema = (r.requested_schema ?? {}) as { properties?: Record<string, Field>; required?: string[] }
  const fields = Object.entries(schema.properties ?? {})
  const [values, setValues] = useState<Obj>(() => Object.fromEntries(fields.flatMap(([k, f]) => (f.default !== undefined ? [[k, f.default]] : f.type === 'boolean' ? [[k, false]] : []))))
  const required = new Set(schema.required ?? [])
  const missing = fields.some(([k]) => required.has(k) && (values[k] === undefined || values[k] === ''))
  const put = (k: string, v: Json | undefined) => setValues({ ...values, [k]: v })
  const url = r.mode === 'url' ? (r.url ?? '') : ''
  const to = safeLink(url)
  return (
    <>
      <h2>
        The server {line(r.mcp_server_name ?? '')} <span class="what">wants to know something</span>
      </h2>
      <p dir="auto">{tame(r.message ?? q.title)}</p>
      {url ? (
        <p>
          <code><Exact text={url} /></code> {to ? <a href={to} target="_blank" rel="noopener noreferrer">Open</a> : <span class="line warning"><b>Not opened</b> this is no address of the web</span>}
        </p>
      ) : null}
      <div class="fields">
        {fields.map(([k, f]) => (
          <label key={k} class={f.type === 'boolean' ? 'field check' : 'field'}>
            <span>
              {tame(f.title ?? k)}
              {required.has(k) ? ' *' : ''}
            </span>
            <Input field={f} value={values[k]} put={(v) => put(k, v)} disabled={readOnly} required={required.has(k)} />
            {f.description ? <span class="faint">{tame(f.description)}</span> : null}
          </label>
        ))}
      </div>
      {readOnly ? null : (
        <div class="answers">
          <Answer primary disabled={missing} onClick={() => answer({ action: 'accept', content: values })}>{url ? 'I have done this' : 'Send'}</Answer>
          <Answer onClick={() => answer({ action: 'decline' })}>Decline</Answer>
          <Answer keys="Escape" onClick={() => answer({ action: 'cancel' })}>Cancel</Answer>
        </div>
      )}
    </>
  )
}

function Input({ field, value, put, disabled, required }: { field: Field; value: Json | undefined; put(v: Json | undefined): void; disabled: boolean; required: boolean }) {
  if (field.type === 'boolean') return <input type="checkbox" checked={value === true} disabled={disabled} onChange={(e) => put(e.currentTarget.checked)} />
  if (field.enum)
    return (
      <select value={value === undefined ? '' : String(value)} disabled={disabled} onChange={(e) => put(field.enum?.find((x) => String(x) === e.currentTarget.value))}>
        <option value="">{required ? 'Choose' : '–'}</option>
        {field.enum.map((x, i) => (
          <option key={i} value={String(x)}>{tame(field.enumNames?.[i] ?? String(x))}</option>
        ))}
      </select>
    )
  const shown = value === undefined || value === null ? '' : String(value)
  if (field.type === 'number' || field.type === 'integer')
    return (
      <input
        type="number"
        step={field.type === 'integer' ? 1 : 'any'}
        min={field.minimum}
        max={field.maximum}
        value={shown}
        disabled={disabled}
        onInput={(e) => put(e.currentTarget.value === '' ? undefined : Number(e.currentTarget.value))}
      />
    )
  const text = { value: shown, disabled, onInput: (e: { currentTarget: HTMLInputElement }) => put(e.currentTarget.value || undefined) }
  switch (field.format) {
    case 'email':
      return <input type="email" {...text} />
    case 'uri':
      return <input type="url" {...text} />
    case 'date':
      return <input type="date" {...text} />
  }
  return <input type="text" minLength={field.minLength} maxLength={field.maxLength} {...text} />
}

export function UserDialog({ q, readOnly, answer }: AskProps) {
  const p = q.request.payload ?? {}
  const retry = p.original_model !== undefined && p.fallback_model !== undefined
  return (
    <>
      <h2>{retry ? 'The model has refused' : line(q.title || q.request.dialog_kind || 'hew asks')}</h2>
      {retry ? (
        <p>{line(String(p.original_model))} did not answer this. Shall {line(String(p.fallback_model))} try?</p>
      ) : (
        <pre class="exact"><Exact text={JSON.stringify(p, null, 2)} /></pre>
      )}
      {readOnly ? null : (
        <div class="answers">
          <Answer keys="1" primary onClick={() => answer({ behavior: 'completed', result: true })}>Yes</Answer>
          <Answer keys="Escape" onClick={() => answer({ behavior: 'cancelled' })}>No</Answer>
        </div>
      )}
    </>
  )
}
