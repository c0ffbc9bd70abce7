/** Requests to a server of a test, without a client of this library. */
import { Effect } from "effect"

export interface Answered {
  readonly status: number
  readonly text: string
  /** The text as JSON; empty if it is none. */
  readonly body: Readonly<Record<string, unknown>>
}

/** A POST of some JSON, or a GET, with the key of any client. */
export const asked = (
  url: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<Answered> =>
  Effect.promise(async () => {
    const response = await fetch(url, {
      headers: { authorization: "Bearer any", "x-goog-api-key": "any", ...headers },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, text, body: parsed(text) }
  })

const parsed = (text: string): Answered["body"] => {
  try {
    return JSON.parse(text) as Answered["body"]
  } catch {
    return {}
  }
}

/** The data of server-sent events that are JSON. */
export const dataIn = (text: string): ReadonlyArray<Answered["body"]> =>
  text.split(/\r?\n/).flatMap((line) => (line.startsWith("data: {") ? [parsed(line.slice(6))] : []))
