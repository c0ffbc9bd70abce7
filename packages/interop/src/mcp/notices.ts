/**
 * Receives messages of an MCP server that are not answers: notifications of changed tools and of progress, which Effect's client drops, and
 * requests of the server, which it refuses.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as PubSub from "effect/PubSub"
import * as Result from "effect/Result"

/** The progress of a call, as the server reports it. */
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

/** The methods of the requests that the server has sent to its client during one call. */
export class Requested {
  readonly #methods = new Set<string>()

  add(method: unknown): void {
    if (Predicate.isString(method) && this.#methods.size < mostMethods) this.#methods.add(method)
  }

  get methods(): ReadonlyArray<string> {
    return [...this.#methods]
  }
}

const mostMethods = 8

/** Collects the requests that the server sends during the current call. */
export const InCall = Context.Reference<Requested | undefined>("@kintsugi/interop/Mcp/Requested", {
  defaultValue: () => undefined
})

/** Receives the messages of one server, and passes them to the listeners. */
export interface Notices {
  /** Receives a message of the server, as JSON text. */
  readonly hear: (text: string) => Effect.Effect<void>
  /** A new progress token for one call; `undefined` if there is no listener for the progress. */
  readonly expect: Effect.Effect<number | undefined>
  readonly forget: (token: number) => void
  /** Runs a call, and collects in `requested` what the server asks its client for meanwhile. */
  readonly inCall: <A, E, R>(requested: Requested, call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Gets one element for each change of the server's tools. */
  readonly changes: PubSub.PubSub<void>
  /** Publishes a change of the tools to `changes`. */
  readonly changed: Effect.Effect<void>
}

/** Makes the receiver for one server. It calls `onChange` before it publishes a change of the tools. */
export const make = (onChange: () => void): Effect.Effect<Notices> =>
  Effect.gen(function* () {
    // Keeps one element: a slow subscriber only needs to know that some tool has changed.
    const changes = yield* PubSub.sliding<void>(1)
    const listeners = new Map<number, (progress: Progress) => Effect.Effect<void>>()
    const calls = new Set<Requested>()
    let last = 0
    const changed = Effect.suspend(() => {
      onChange()
      return Effect.asVoid(PubSub.publish(changes, undefined))
    })
    return {
      changes,
      changed,
      hear: (text) => {
        const notice = read(text)
        if (notice === undefined) return Effect.void
        if (notice.isRequest) {
          return Effect.map(InCall, (requested) => {
            // The output of a process does not say to which call a request belongs, so it counts only if there is one call.
            const [only] = calls.size === 1 ? calls : []
            ;(requested ?? only)?.add(notice.method)
          })
        }
        if (notice.method === "notifications/tools/list_changed") return changed
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
      },
      inCall: (requested, call) =>
        Effect.suspend(() => {
          calls.add(requested)
          return Effect.ensuring(
            Effect.provideService(call, InCall, requested),
            Effect.sync(() => calls.delete(requested))
          )
        })
    }
  })

interface Notice {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly isRequest: boolean
}

const read = (text: string): Notice | undefined => {
  // Most messages are answers, and may be long, so they are skipped without parsing.
  if (!/"(?:notifications|elicitation|sampling|roots)\//.test(text)) return undefined
  const message: unknown = Option.getOrUndefined(Result.getSuccess(Result.try((): unknown => JSON.parse(text))))
  if (!Predicate.isReadonlyObject(message) || !Predicate.isString(message["method"])) return undefined
  const { method, params } = message
  return { method, params: Predicate.isReadonlyObject(params) ? { ...params } : {}, isRequest: "id" in message }
}
