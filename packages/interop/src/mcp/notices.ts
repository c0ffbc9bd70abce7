/** What an MCP server says without being asked: that its tools have changed, how far a call is. Effect's client drops it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as PubSub from "effect/PubSub"
import * as Result from "effect/Result"

/** How far a call is, as its server says. */
export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** Who hears how far the present call is. */
export const OnProgress = Context.Reference<((progress: Progress) => Effect.Effect<void>) | undefined>(
  "@kintsugi/interop/Mcp/OnProgress",
  { defaultValue: () => undefined }
)

/** Those who listen to one server. */
export interface Notices {
  /** A message of the server as it came over the wire. */
  readonly hear: (text: string) => Effect.Effect<void>
  /** A new token for the progress of one call; `undefined` where nobody listens to it. */
  readonly expect: Effect.Effect<number | undefined>
  readonly forget: (token: number) => void
  /** One element for each time that the tools have changed. */
  readonly changes: PubSub.PubSub<void>
}

export const make: Effect.Effect<Notices> = Effect.gen(function* () {
  // whoever is slow needs to know only that something has changed
  const changes = yield* PubSub.sliding<void>(1)
  const listeners = new Map<number, (progress: Progress) => Effect.Effect<void>>()
  let last = 0
  return {
    changes,
    hear: (text) => {
      const notice = read(text)
      if (notice === undefined) return Effect.void
      if (notice.method === "notifications/tools/list_changed") return Effect.asVoid(PubSub.publish(changes, undefined))
      if (notice.method !== "notifications/progress") return Effect.void
      const { message, progress, progressToken, total } = notice.params
      const listener = Predicate.isNumber(progressToken) ? listeners.get(progressToken) : undefined
      if (listener === undefined || !Predicate.isNumber(progress)) return Effect.void
      return listener({
        progress,
        ...(Predicate.isNumber(total) ? { total } : {}),
        ...(Predicate.isString(message) ? { message } : {})
      })
    },
    expect: Effect.map(OnProgress, (listener) => {
      if (listener === undefined) return undefined
      listeners.set(++last, listener)
      return last
    }),
    forget: (token) => {
      listeners.delete(token)
    }
  }
})

interface Notice {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

const read = (text: string): Notice | undefined => {
  // most messages are answers, and may be long
  if (!text.includes('"notifications/')) return undefined
  const message: unknown = Option.getOrUndefined(Result.getSuccess(Result.try((): unknown => JSON.parse(text))))
  if (!Predicate.isReadonlyObject(message) || !Predicate.isString(message["method"]) || "id" in message)
    return undefined
  const { method, params } = message
  return { method, params: Predicate.isReadonlyObject(params) ? { ...params } : {} }
}
