// The windows of the page, each by its name.

import { app } from '../app'
import { useStore } from '../store'
import { ContextPicture } from './context'
import { Dialog } from './dialog'
import { keys } from './keys'
import { NewSession } from './new'
import { Rewind } from './rewind'
import { OtherDevice } from './signin'
import { Settings } from './settings'

export function Dialogs() {
  const dialog = useStore(app, (a) => a.dialog)
  const open = useStore(app, (a) => a.open)
  switch (dialog) {
    case 'keys':
      return <Keyboard />
    case 'link':
      return <OtherDevice />
    case 'new':
      return <NewSession />
    case 'rewind':
      return open ? <Rewind conversation={open} /> : null
    case 'context':
      return open ? <ContextPicture conversation={open} /> : null
    case 'settings':
      return open ? <Settings conversation={open} /> : null
  }
  return null
}

function Keyboard() {
  return (
    <Dialog title="Keyboard">
      {keys.map((g) => (
        <section key={g.name} class="keys">
          <h3>{g.name}</h3>
          <dl>
            {g.keys.map(([k, what]) => (
              <div key={k}>
                <dt>{k.split(' ').map((x, i) => (x === 'or' ? <span key={i}> or </span> : <kbd key={i}>{x}</kbd>))}</dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  )
}
