// The details of a conversation: to-do list, what runs beside it, the window, what it has cost.

import { useEffect, useState } from 'preact/hooks'
import { app } from '../app'
import type { Conversation } from '../conversation'
import { useStore } from '../store'
import { duration, money, plural, tokens } from '../text/format'
import { line } from '../text/visible'
import type { Task } from '../wire'
import { Icon } from './icon'
import { List, Terminal } from './views'

export function Rail({ conversation }: { conversation: Conversation }) {
  const todo = useStore(conversation.talk, (t) => t.todo)
  const tasks = useStore(conversation.talk, (t) => t.tasks)
  const done = todo.filter((e) => e.state === 'completed').length
  return (
    <aside class="right" id="details" aria-label="Details">
      <Window conversation={conversation} />
      {todo.length ? (
        <section>
          <h2>
            To do <span class="faint">{done} of {todo.length}</span>
          </h2>
          <List items={todo} />
        </section>
      ) : null}
      <Tasks conversation={conversation} tasks={tasks} />
      <section class="doors">
        <h2>More</h2>
        <Door icon="undo" name="Go back to an earlier point" keys="Alt+Z" dialog="rewind" />
        <Door icon="picture" name="What fills the window" keys="Alt+C" dialog="context" />
        <Door icon="gear" name="Settings and rules" keys="Alt+S" dialog="settings" />
        <Door icon="key" name="Keyboard" keys="?" dialog="keys" />
      </section>
    </aside>
  )
}

function Door({ icon, name, keys, dialog }: { icon: 'undo' | 'picture' | 'gear' | 'key'; name: string; keys: string; dialog: 'rewind' | 'context' | 'settings' | 'keys' }) {
  return (
    <button type="button" class="door" aria-keyshortcuts={keys} onClick={() => app.patch({ dialog, panel: '' })}>
      <Icon name={icon} /> <span>{name}</span> <kbd aria-hidden="true">{keys}</kbd>
    </button>
  )
}

function Window({ conversation }: { conversation: Conversation }) {
  const { used, size } = useStore(conversation.talk, (t) => t.window)
  const cost = useStore(conversation.talk, (t) => t.cost)
  const share = size ? Math.min(1, used / size) : 0
  return (
    <section>
      <h2>
        Window <span class="faint">{size ? `${tokens(used)} of ${tokens(size)}` : tokens(used)}</span>
      </h2>
      <Meter share={share} label={`The window is ${Math.round(share * 100)} % full`} />
      {cost > 0 ? (
        <p class="pair">
          <span>Cost so far</span> <span>{money(cost)}</span>
        </p>
      ) : null}
    </section>
  )
}

export function Meter({ share, label }: { share: number; label: string }) {
  return (
    <svg class={share > 0.8 ? 'meter full' : 'meter'} viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect width="100" height="4" rx="1" class="track" />
      <rect width={Math.max(0.5, share * 100)} height="4" rx="1" class="fill" />
    </svg>
  )
}

const running = (t: Task) => t.status === 'running' || t.status === 'pending'

function Tasks({ conversation, tasks }: { conversation: Conversation; tasks: Task[] }) {
  const [all, setAll] = useState(false)
  const shown = all ? tasks : tasks.filter((t, i) => running(t) || t.status === 'failed' || i >= tasks.length - 5)
  if (!tasks.length) return null
  return (
    <section>
      <h2>
        Agents and tasks <span class="faint">{plural(tasks.filter(running).length, 'running', 'running')}</span>
      </h2>
      <ul class="tasks" aria-label="Agents and tasks">
        {shown.map((t) => (
          <TaskView key={t.id} conversation={conversation} task={t} />
        ))}
      </ul>
      {shown.length < tasks.length ? <button type="button" class="link" onClick={() => setAll(true)}>{plural(tasks.length - shown.length, 'older')}</button> : null}
    </section>
  )
}

function TaskView({ conversation, task }: { conversation: Conversation; task: Task }) {
  const [open, setOpen] = useState(false)
  const [text, setText] = useState<string>()
  const readOnly = useStore(conversation.readOnly, (v) => v)
  const live = running(task)
  useEffect(() => {
    if (!open) return
    const look = () =>
      void conversation.ask('get_task_output', { task_id: task.id }).then(
        (r) => setText(String(r.output ?? r.content ?? r.summary ?? JSON.stringify(r))),
        (e: Error) => setText(e.message),
      )
    look()
    if (!live) return
    const timer = setInterval(look, 1500)
    return () => clearInterval(timer)
  }, [open, live, task.id])
  const facts = [task.subagent_type, live ? task.last_tool : task.status, task.calls ? plural(task.calls, 'call') : '', task.tokens ? tokens(task.tokens) : '', duration(task.took_ms ?? 0)].filter(Boolean)
  return (
    <li class={`deep-${Math.min(task.depth ?? 0, 4)}`}>
      <div class="task">
        <button type="button" class="head" aria-expanded={open} onClick={() => setOpen(!open)}>
          {live ? <span class="spinner" role="img" aria-label="running" /> : <Icon name={task.status === 'completed' ? 'check' : 'cross'} />}
          <span class="words">
            <span class="title">{line(task.summary || task.prompt || task.id)}</span>
            <span class="faint">{line(facts.join(' · '))}</span>
          </span>
        </button>
        {live && !readOnly ? (
          <button type="button" class="quiet small" aria-label={`Stop ${line(task.summary ?? task.id)}`} title="Stop" onClick={() => void conversation.ask('stop_task', { task_id: task.id }).catch(() => {})}>
            <Icon name="stop" />
          </button>
        ) : null}
      </div>
      {open ? <div class="body">{task.prompt ? <p class="faint">{line(task.prompt).slice(0, 600)}</p> : null}{text === undefined ? <p class="faint">Reading …</p> : <Terminal output={text} running={live} />}</div> : null}
    </li>
  )
}
