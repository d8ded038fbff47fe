// Requests to the server that this page came from; it never asks another.

export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly body: unknown,
  ) {
    super(message)
  }
}

export async function api<T>(method: string, path: string, body?: unknown): Promise<T> {
  let answer: Response
  try {
    answer = await fetch(`/api${path}`, {
      method,
      credentials: 'same-origin',
      ...(method === 'GET' ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body ?? {}) }),
    })
  } catch {
    throw new Refusal(0, 'away', 'hew serve does not answer; it may have been stopped', undefined)
  }
  const text = await answer.text()
  let read: unknown
  try {
    read = text ? JSON.parse(text) : undefined
  } catch {
    read = undefined
  }
  if (answer.ok) return read as T
  const error = (read as { error?: { code?: string; message?: string } } | undefined)?.error
  throw new Refusal(answer.status, error?.code ?? 'failed', error?.message ?? `the server answered ${answer.status}`, read)
}

export const get = <T>(path: string) => api<T>('GET', path)
export const of = (id: string) => `/sessions/${encodeURIComponent(id)}`
