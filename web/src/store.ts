// A value that components draw, and the hook by which they do.

import { useEffect, useReducer } from 'preact/hooks'

export class Store<T> {
  private readonly listeners = new Set<() => void>()

  constructor(private value: T) {}

  get(): T {
    return this.value
  }

  set(value: T): void {
    if (Object.is(value, this.value)) return
    this.value = value
    for (const l of [...this.listeners]) l()
  }

  patch(change: Partial<T>): void {
    this.set({ ...this.value, ...change })
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}

// useStore draws a part of a store again when that part is another one.
export function useStore<T, P>(store: Store<T>, pick: (value: T) => P): P {
  const [, again] = useReducer((n: number, _: void) => n + 1, 0)
  const part = pick(store.get())
  useEffect(() => {
    let seen = part
    const look = () => {
      const now = pick(store.get())
      if (Object.is(now, seen)) return
      seen = now
      again()
    }
    look()
    return store.subscribe(look)
  })
  return part
}

// kept reads and writes small things that this browser remembers; a browser that forbids it forgets.
export const kept = {
  get(key: string): string {
    try {
      return localStorage.getItem(`hew.${key}`) ?? ''
    } catch {
      return ''
    }
  },
  set(key: string, value: string): void {
    try {
      if (value) localStorage.setItem(`hew.${key}`, value)
      else localStorage.removeItem(`hew.${key}`)
    } catch {
      // full or forbidden: the page works without
    }
  },
}
