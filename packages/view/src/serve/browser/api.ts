/** What the page asks the server for. The token of the page's address goes with every request. */
import type { Answer, Choice, Replayed, State } from "./Wire.ts"

const token = new URLSearchParams(location.search).get("token") ?? ""

const headers = { authorization: `Bearer ${token}` }

/** The address of the report of a run. A frame sends no header, so the token is in it. */
export const reportOf = (id: string): string => `/runs/${encodeURIComponent(id)}?token=${encodeURIComponent(token)}`

/** The address of the comparison of two runs. */
export const comparisonOf = (first: string, second: string): string =>
  `/compare/${encodeURIComponent(first)}/${encodeURIComponent(second)}?token=${encodeURIComponent(token)}`

const answered = async (response: Response): Promise<unknown> => {
  if (!response.ok) throw new Error((await response.text()).trim())
  return response.json()
}

export const state = async (): Promise<State> =>
  // cast: the server of this page answers with it
  (await answered(await fetch("/state", { headers }))) as State

const post = async (path: string, body: unknown = {}): Promise<unknown> =>
  answered(
    await fetch(path, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
  )

const begun = async (path: string, body?: unknown): Promise<string> =>
  // cast: the server of this page answers with it
  ((await post(path, body)) as { readonly id: string }).id

const of = (id: string, part: string): string => `/runs/${encodeURIComponent(id)}/${part}`

export const start = (choice: Choice): Promise<string> => begun("/runs", choice)

export const repeat = (id: string): Promise<string> => begun(of(id, "repeat"))

export const from = (
  id: string,
  change: { readonly turn: number; readonly prompt?: string; readonly input?: unknown }
): Promise<string> => begun(of(id, "from"), change)

export const stop = (id: string): Promise<unknown> => post(of(id, "stop"))

export const say = (id: string, text: string): Promise<unknown> => post(of(id, "say"), { text })

export const decide = (id: string, digest: string, answer: Answer): Promise<unknown> =>
  post(of(id, "decide"), { digest, answer })

export const replay = async (): Promise<Replayed> =>
  // cast: the server of this page answers with it
  (await post("/replay")) as Replayed

export const clear = (): Promise<unknown> => post("/clear")

export const reload = (): Promise<unknown> => post("/reload")

/** Follows a stream of server-sent events after a number, until it ends or the signal says so. Gives the last number. */
export const follow = async (
  path: string,
  after: number,
  each: (data: unknown) => void,
  signal?: AbortSignal
): Promise<number> => {
  const response = await fetch(`${path}?after=${after}`, { headers, ...(signal === undefined ? {} : { signal }) })
  if (!response.ok || response.body === null) throw new Error((await response.text()).trim())
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  let last = after
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other
    const { done, value } = await reader.read()
    if (done) return last
    const blocks = (rest + value).split("\n\n")
    rest = blocks.pop() ?? ""
    for (const block of blocks) {
      last = Number(/^id: (\d+)$/m.exec(block)?.[1] ?? last)
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data !== undefined) each(JSON.parse(data))
    }
  }
}

export const eventsOf = (id: string): string => `/events/${encodeURIComponent(id)}`
