/** Notifications of an MCP server: changed tools and the progress of calls. Effect's client drops them. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as PubSub from "effect/PubSub"
import * as Result from "effect/Result"

/** The progress of a call, as its server reports it. */
interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** The listener for the progress of the current call. */
export const OnProgress = Context.Reference<((progress: Progress) => Effect.Effect<void>) | undefined>(
  "@kintsugi/interop/Mcp/OnProgress",
  { defaultValue: () => undefined }
)

/** The listeners of one server. */
export interface Notices {
  /** Receives a message of the server as JSON text. */
  readonly hear: (text: string) => Effect.Effect<void>
  /** A new progress token for one call; `undefined` without a listener. */
  readonly expect: Effect.Effect<number | undefined>
  readonly forget: (token: number) => void
  /** One element for each change of the tools. */
  readonly changes: PubSub.PubSub<void>
}

export const make: Effect.Effect<Notices> = Effect.gen(function* () {
  // A slow subscriber only needs to know that something changed.
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
  // Most messages are answers, and may be long, so they are not parsed.
  if (!text.includes('"notifications/')) return undefined
  const message: unknown = Option.getOrUndefined(Result.getSuccess(Result.try((): unknown => JSON.parse(text))))
  if (!Predicate.isReadonlyObject(message) || !Predicate.isString(message["method"]) || "id" in message)
    return undefined
  const { method, params } = message
  return { method, params: Predicate.isReadonlyObject(params) ? { ...params } : {} }
}
