// The permission mode and the model of a conversation, as choices beside the text field.

import { useEffect, useState } from 'preact/hooks'
import type { Conversation } from '../conversation'
import { useStore } from '../store'
import { line } from '../text/visible'

export const modes: Record<string, string> = {
  default: 'Ask first',
  acceptEdits: 'Accept edits',
  plan: 'Plan only',
  auto: 'Auto',
  dontAsk: 'Never ask, refuse',
  bypassPermissions: 'Allow everything',
}

export function ModeChoice({ conversation }: { conversation: Conversation }) {
  const mode = useStore(conversation.talk, (t) => t.mode)
  const known = ['default', 'acceptEdits', 'plan']
  const shown = known.includes(mode) ? known : [...known, mode]
  return (
    <label class={`choice mode-${mode}`} title="What may run without a question (Alt+M)">
      <span class="sr">Permission mode</span>
      <select
        data-mode
        value={mode}
        onChange={(e) => {
          const el = e.currentTarget
          void conversation.ask('set_permission_mode', { mode: el.value }).then(
            (r) => conversation.talk.patch({ mode: typeof r.mode === 'string' ? r.mode : el.value }),
            () => (el.value = conversation.talk.get().mode),
          )
        }}
      >
        {shown.map((m) => (
          <option key={m} value={m}>
            {modes[m] ?? line(m)}
          </option>
        ))}
      </select>
    </label>
  )
}

interface Model {
  value?: string
  displayName?: string
  resolvedModel?: string
}

export function ModelChoice({ conversation }: { conversation: Conversation }) {
  const model = useStore(conversation.talk, (t) => t.model)
  const open = useStore(conversation.link, (s) => s === 'open')
  const [models, setModels] = useState<Model[]>([])
  useEffect(() => {
    if (!open) return
    void conversation.ask('list_models').then(
      (r) => setModels(Array.isArray(r.models) ? (r.models as unknown as Model[]) : []),
      () => {},
    )
  }, [conversation, open])
  const has = models.find((m) => m.value === model || m.resolvedModel === model)
  return (
    <label class="choice" title="Model">
      <span class="sr">Model</span>
      <select
        value={has?.value ?? model}
        onChange={(e) => {
          const el = e.currentTarget
          void conversation.ask('set_model', { model: el.value }).then(
            (r) => conversation.talk.patch({ model: typeof r.model === 'string' ? r.model : el.value }),
            () => (el.value = conversation.talk.get().model),
          )
        }}
      >
        {has ? null : <option value={model}>{line(model) || 'Model'}</option>}
        {models.map((m) => (
          <option key={m.value} value={m.value}>
            {line(m.displayName ?? m.value ?? '')}
          </option>
        ))}
      </select>
    </label>
  )
}
