/**
 * The chats of this process. A run belongs to its chat and not to the request that started it: a page that is closed or loses its
 * connection stops nothing, and reads on when it is back. Here a chat is in memory; yours is in a database, and belongs to a user.
 */
import { Agent, type Approval } from "@kintsugi/core"
import { Effect, Exit, Option, Scope, Semaphore } from "effect"
import { concierge } from "./agent.ts"

const going = Agent.resume(concierge)

type Run = Effect.Success<ReturnType<typeof going.start>>

interface Chat {
  /** A page may send twice, as after a lost connection: one request after the other changes the chat. */
  readonly lock: Semaphore.Semaphore
  /** The id of the last message of the user. */
  asked?: string
  /** The runs of the answer: the first one, and one more for each decision of the user. */
  runs: ReadonlyArray<Run>
  /** Its runs live here. */
  scope?: Scope.Closeable
}

export const make = Effect.gen(function* () {
  const server = yield* Effect.scope
  const chats = new Map<string, Chat>()

  /** Answers a message of the user. An answer to the one before, if it is still at work, is stopped; what it has said stays. */
  const ask = (id: string, message: { readonly id: string; readonly text: string }) => {
    const chat: Chat = chats.get(id) ?? { lock: Semaphore.makeUnsafe(1), runs: [] }
    chats.set(id, chat)
    const answering = Effect.gen(function* () {
      if (chat.asked === message.id) return chat.runs
      if (chat.scope !== undefined) yield* Scope.close(chat.scope, Exit.void)
      const from = yield* chat.runs.at(-1)?.transcript ?? Effect.succeed([])
      const scope = (chat.scope = yield* Scope.fork(server))
      const run = yield* Effect.provideService(going.start({ from, input: message.text }), Scope.Scope, scope)
      chat.asked = message.id
      return (chat.runs = [run])
    })
    return chat.lock.withPermit(answering)
  }

  /** Goes on with the run that waits for this decision; nothing if no run waits. */
  const decide = (id: string, decision: Approval.Decided) => {
    const chat = chats.get(id)
    const [last, scope] = [chat?.runs.at(-1), chat?.scope]
    if (chat === undefined || last === undefined || scope === undefined) return Effect.succeed([])
    const deciding = Effect.gen(function* () {
      const outcome = Option.getOrUndefined(yield* Effect.option(last.outcome))
      if (outcome?._tag !== "Suspended" || chat.runs.at(-1) !== last) return []
      const resumption = { from: outcome.snapshot, decisions: [decision] }
      const run = yield* Effect.provideService(going.start(resumption), Scope.Scope, scope)
      chat.runs = [...chat.runs, run]
      return [run]
    })
    return chat.lock.withPermit(deciding)
  }

  return {
    ask,
    decide,
    find: (id: string): ReadonlyArray<Run> => chats.get(id)?.runs ?? [],
    /** Ends the answer. What it has said stays in the conversation. */
    stop: (id: string): Effect.Effect<void> => chats.get(id)?.runs.at(-1)?.interrupt ?? Effect.void
  }
})
