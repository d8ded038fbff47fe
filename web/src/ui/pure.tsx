// A component that is drawn again only when one of its properties is another value.

import { Component, type ComponentChildren, type ComponentType } from 'preact'

export function pure<P extends object>(draw: (props: P) => ComponentChildren): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: P) {
      const was = this.props as Record<string, unknown>
      const now = next as Record<string, unknown>
      return Object.keys(now).length !== Object.keys(was).length || Object.keys(now).some((k) => !Object.is(was[k], now[k]))
    }
    override render() {
      return draw(this.props)
    }
  }
}

// guard shows a sentence in place of something that could not be drawn, so that one odd item never takes the page away.
export class Guard extends Component<{ children: ComponentChildren; what: string }, { failed: boolean }> {
  override state = { failed: false }
  static override getDerivedStateFromError() {
    return { failed: true }
  }
  override render() {
    return this.state.failed ? <p class="faint">{this.props.what} could not be drawn.</p> : this.props.children
  }
}
