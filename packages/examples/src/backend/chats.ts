/** The chats of `useChat`: each message is a run of its own, and the client has the conversation. */
import { Agent, type KintsugiError, type Message, Snapshot } from "@kintsugi/core"
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
import * as AgentRuns from "@kintsugi/interop/AgentRuns"
import { Effect, Exit, type Scope, Stream } from "effect"
import { Desk } from "./api.ts"
import { desk } from "./desk.ts"
import { Running } from "./running.ts"

type Run = Agent.Run<string, KintsugiError.KintsugiError>

/** Each run that fails is a line in the log, with the id and the code that its client has too. */
export const served = Agent.onFailure(desk, ({ code, error, runId }) =>
  Effect.annotateLogs(Effect.logWarning(`a run has failed: ${String(Reflect.get(Object(error), "message"))}`), {
    runId,
    code
  })
)

const going = Agent.resume(served)

/** Stores a run that waits under its own id: the people who decide find it there. */
const stored = (run: Run, subject: string) =>
  Effect.flatMap(run.outcome, (outcome) => {
    if (outcome._tag === "Completed") return Effect.void
    const { snapshot } = outcome
    const document = { asked: "", snapshot: Snapshot.toJson(snapshot), repeat: false }
    return AgentRuns.SuspendedRuns.use(({ put }) => put({ agent: Desk.name, subject, run: snapshot.runId }, document))
  })

/** The events of a run that ends with its reader. It is stored before they end. */
const eventsOf = <E, R>(
  starting: Effect.Effect<Agent.Run<string, E & KintsugiError.KintsugiError>, never, R | Scope.Scope>,
  subject: string
) =>
  Stream.unwrap(Effect.map(starting, (run) => Stream.concat(run.events, Stream.fromEffectDrain(stored(run, subject)))))

/** The next turn of a conversation. With the id of its chat, it goes on without its reader. */
export const chat = (from: Message.Transcript, input: string, id?: string) =>
  Effect.gen(function* () {
    const subject = yield* AgentProxy.Subject
    const starting = going.start({ from, input })
    if (id === undefined) return eventsOf(starting, subject)
    const { start } = yield* Running
    const run = yield* start({ subject, chat: id }, starting, (run) => stored(run, subject))
    return run === undefined ? yield* Effect.fail(new AgentProxy.TooBusyError({ retryAfter: 5 })) : run.events
  })

/** The events of the run at work of a chat; `undefined` if there is none. */
export const reopened = (chat: string) =>
  Effect.gen(function* () {
    const run = (yield* Running).find({ subject: yield* AgentProxy.Subject, chat })
    return run === undefined || (yield* isOver(run.outcome)) ? undefined : run.events
  })

const isOver = <A, E>(outcome: Effect.Effect<A, E>) =>
  Effect.raceFirst(Effect.map(Effect.exit(outcome), Exit.isExit), Effect.as(Effect.yieldNow, false))

/** Without the token of a deferred call: who has it can settle the call. */
const shown = (one: Snapshot.Waiting): Snapshot.Waiting => {
  if (one.type !== "deferred") return one
  const { agent, callId, expiresAt, handle, runId, tool, type } = one
  return { type, runId, agent, callId, tool, expiresAt, handle }
}

/** What the runs of a customer wait for. */
export const waiting = Effect.gen(function* () {
  const subject = yield* AgentProxy.Subject
  const rows = yield* (yield* AgentRuns.SuspendedRuns).list({ agent: Desk.name, subject })
  return yield* Effect.forEach(rows, ({ run, snapshot }) =>
    Effect.map(Effect.orDie(Snapshot.fromJson(snapshot)), (read) => ({
      run,
      waiting: Snapshot.waitingOf(read).map(shown)
    }))
  )
})
