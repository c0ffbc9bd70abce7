/** durable: what is read of the rows of a run. */
import * as Agent from "@kintsugi/core/Agent"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Skill from "@kintsugi/core/Skill"
import * as Tool from "@kintsugi/core/Tool"
import * as Snapshot from "@kintsugi/core/Snapshot"
import { Effect, Layer, Redacted, Schema, Stream } from "effect"
import * as Issue from "../../../packages/core/src/data/Issue.ts"
import type { RunContext } from "../../../packages/core/src/event/RunContext.ts"
import { asksOf } from "../../../packages/durable/src/asks.ts"
import * as Durable from "../../../packages/durable/src/Durable.ts"
import * as SnapshotKeys from "../../../packages/durable/src/SnapshotKeys.ts"
import * as Errors from "../../../packages/durable/src/errors.ts"
import { decoded } from "../../../packages/durable/src/logRows.ts"
import { migrateCall } from "../../../packages/durable/src/migration.ts"
import { fingerprint, seeded } from "../../../packages/durable/src/random.ts"
import { saying } from "../../../packages/durable/src/recording.ts"
import { type Reads, watched } from "../../durable/_support/engines.ts"
import { misfits, texts, usage } from "./data.ts"
import { each, effectOnly, fixed, grows, merged, none, reached, type Table } from "./entry.ts"

/** Calls the tool with the text, and says it then. */
const saysTwice = (text: string): Model.Service => {
  const call = { type: "tool-call", id: "c1", name: "look", arguments: JSON.stringify({ text }) } as const
  const next = ({ messages }: Model.Request): Message.Reply =>
    messages.some(({ role }) => role === "assistant")
      ? { content: [{ type: "text", text }], finish: "stop", usage }
      : { content: [call], finish: "tool-calls", usage }
  return {
    name: "m",
    provider: "p",
    generate: (request) => Effect.sync(() => next(request)),
    stream: (request) => Stream.suspend(() => Stream.fromIterable(Model.partsOf(next(request))))
  }
}

const Text = Schema.Struct({ text: Schema.String })

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Text,
  success: Schema.String,
  run: ({ text }) => Effect.succeed(text)
})

/** A run that is replayed from its rows after each step. */
const replayed = (text: string, reads?: Reads) =>
  Effect.runPromiseExit(
    Effect.scoped(
      Effect.gen(function* () {
        const engine = yield* watched(true, undefined, reads)
        const agent = Agent.make("clerk", {
          model: Layer.succeed(Model.Model, saysTwice(text)),
          skills: [Skill.make("looking", { description: "Looks.", tools: [look] })]
        })
        const durable = Durable.workflow(agent, { name: "clerk", input: Schema.String, output: Schema.String })
        return yield* Effect.gen(function* () {
          const id = yield* Durable.start(durable, { id: "one", input: text })
          const ended = yield* durable.workflow.execute({ id: "one", input: text })
          return [ended, yield* Durable.poll(durable, id)]
        }).pipe(Effect.provide(Layer.provideMerge(durable.layer, engine.layer)))
      })
    )
  )

const keys = SnapshotKeys.layer({ keys: [{ id: "k1", secret: Redacted.make("0".repeat(64)) }] })

const signedAndVerified = (text: string) =>
  Effect.gen(function* () {
    const signing = yield* Snapshot.Signing
    const signature = yield* signing?.sign(text) ?? Effect.die("no signer")
    return yield* signing?.verify(text, { ...signature, key: text.slice(0, 9) }) ?? Effect.void
  })

// cast: these fields of a run are read
const secondTurn = { agent: "clerk", turn: () => 2, conversation: { replace: () => {} } } as unknown as RunContext

/** A request after a failed call, with as many words of the program as the text is long. */
const requestOf = (text: string): Model.Request => {
  const call = { type: "tool-call", id: "c1", name: "look", arguments: {} } as const
  const failed = { type: "settled-call", call, settlement: { kind: "told", text } } as const
  const words = Array.from(text.slice(0, text.length >> 5), (said) => ({ type: "text", text: said }) as const)
  const messages: Message.Transcript = [
    { role: "assistant", content: [failed] },
    { role: "user", content: words }
  ]
  return { messages, tools: [], toolChoice: "auto" }
}

/** Migrates the arguments of a call of `look`. */
const migrating = (written: string) =>
  migrateCall({ from: { tool: "look", parameters: Text }, to: look, migrate: (old) => old }).migrate(written)

const unread = none("names and ids of the developer")

export const durable: Table = {
  "durable/src/Durable.ts": {
    workflow: merged({
      "rows as they were written": grows(texts, (text) => replayed(text)),
      "rows that do not fit": grows(texts, (text) =>
        replayed("a", (name, stored) => (name === "begin" ? stored : { text }))
      )
    }),
    ...each(reached, "start"),
    ...each(effectOnly, "poll", "resume", "decide", "settle")
  },
  "durable/src/asks.ts": {
    asksOf: grows(texts, (text) => {
      const { restore, words = [] } = asksOf(3, secondTurn, { request: requestOf(text), shortened: new WeakSet() })
      restore?.(words.map((word) => word.slice(1)))
      return words
    }),
    ...each(fixed, "stampOf"),
    ...each(none("compares two digests, or reads a number"), "isOther", "revisionOf")
  },
  "durable/src/format.ts": each(reached, "begin"),
  "durable/src/ResultStores.ts": each(none("stores texts as they are"), "layerSql"),
  "durable/src/SnapshotClaims.ts": each(none("stores ids of snapshots, which a schema has read"), "layerSql"),
  "durable/src/SnapshotKeys.ts": {
    layer: grows(texts, (text) => Effect.runPromise(Effect.provide(signedAndVerified(text), keys)))
  },
  "durable/src/approval.ts": each(effectOnly, "decide", "decided", "superseding"),
  "durable/src/books.ts": each(
    none("books what a schema has read"),
    "Books",
    "spentOf",
    "rebook",
    "encodeSpent",
    "decodeSpent"
  ),
  "durable/src/deferred.ts": {
    ...each(effectOnly, "settle", "deferring", "poll", "cancel"),
    ...each(fixed, "withdrawing")
  },
  "durable/src/engine/clusters.ts": each(none("puts layers together"), "alone", "runner", "client"),
  "durable/src/engine/errors.ts": each(none("names a folder of this machine"), "FolderInUseError"),
  "durable/src/engine/unusable.ts": each(none("names a folder of this machine"), "unusable"),
  "durable/src/engine/layers.ts": each(none("takes settings of the program"), "layerPglite", "layerPostgres"),
  "durable/src/engine/lock.ts": each(none("reads a file that this package has written"), "lock"),
  "durable/src/engine/peers.ts": each(none("takes names of packages of this source"), "find", "load"),
  "durable/src/engine/pglite.ts": each(none("takes settings of the program"), "layer"),
  "durable/src/engine/postgres.ts": each(none("takes settings of the program"), "layer"),
  "durable/src/engine/server.ts": each(none("takes paths of this machine"), "serve"),
  "durable/src/errors.ts": {
    ...each(unread, "UnknownRunError", "OtherWorkflowError", "ChangedAgentError"),
    fitting: grows(misfits, ({ input, issue }) =>
      Effect.runSyncExit(
        Errors.fitting(
          { _tag: "clerk", payloadSchema: { makeEffect: () => Effect.fail(issue) } },
          // cast: the id is not read before the issue
          input as { readonly id: string }
        )
      )
    ),
    ...each(reached, "UnfitInputError"),
    UnreadableStepError: grows(misfits, ({ input, issue }) =>
      JSON.stringify(
        Errors.UnreadableStepError.make({
          workflow: "clerk",
          executionId: "one",
          step: "step",
          ...Errors.unreadable(Issue.fromSchema(issue, input)[0])
        })
      )
    ),
    MigrationError: grows(misfits, ({ input, issue }) =>
      JSON.stringify(
        Errors.MigrationError.make({
          workflow: "clerk",
          executionId: "one",
          step: "step",
          tool: "look",
          ...Errors.unreadable(Issue.fromSchema(issue, input)[0])
        })
      )
    ),
    ...each(effectOnly, "asFailures")
  },
  "durable/src/eventLog.ts": each(reached, "EventLog"),
  "durable/src/intercepting.ts": each(reached, "intercepting"),
  "durable/src/knowing.ts": each(effectOnly, "knowing", "demanding", "isOver"),
  "durable/src/lines.ts": each(reached, "Line", "Lines"),
  "durable/src/listening.ts": each(reached, "listening"),
  "durable/src/logRows.ts": {
    ...each(effectOnly, "batchAt"),
    ...each(reached, "write", "encoded"),
    ...each(none("reads what this run has written, a field of it"), "undecoded", "textOf"),
    decoded: grows(texts, (text) => decoded({ type: "text-delta", runId: text, agent: text, turn: 1, at: 0, text }))
  },
  "durable/src/losing.ts": each(effectOnly, "lose", "isNoted", "note", "isLeft", "stillThere", "orLost", "demandRow"),
  "durable/src/marks.ts": each(reached, "isDelta", "Marks"),
  "durable/src/memory.ts": each(reached, "Memory"),
  "durable/src/leaving.ts": each(effectOnly, "leave", "leaveToNewer"),
  "durable/src/migrating.ts": each(effectOnly, "migratedCalls", "migratedArguments"),
  "durable/src/migration.ts": {
    migrateCall: merged({
      "as the model wrote them": grows(texts, (text) => migrating(text)),
      "as JSON": grows(texts, (text) => migrating(JSON.stringify({ text })))
    })
  },
  "durable/src/outcomes.ts": each(reached, "outcomeOf"),
  "durable/src/patience.ts": each(effectOnly, "patient"),
  "durable/src/random.ts": { fingerprint: grows(texts, fingerprint), seeded: grows(texts, seeded) },
  "durable/src/recording.ts": {
    ...each(reached, "record", "underWay", "reading", "activity"),
    ...each(effectOnly, "goingOn", "outside"),
    ...each(fixed, "remainder"),
    saying: grows(texts, (text) => saying(new Error(text)))
  },
  "durable/src/reader.ts": each(effectOnly, "events"),
  "durable/src/rest.ts": each(reached, "restOf", "replaced"),
  "durable/src/rows.ts": each(none("asks a storage for rows by ids, and reads none of them"), "stepId", "rowsOf"),
  "durable/src/say.ts": each(effectOnly, "say", "unread"),
  "durable/src/stop.ts": each(reached, "Stop"),
  "durable/src/stopping.ts": each(effectOnly, "interrupt", "isStopped", "watched", "hasStopped"),
  "durable/src/saying.ts": {
    ...each(effectOnly, "unreadOf", "reading", "isSuperseded", "put"),
    ...each(none("compares ids of runs with the reader that a message names"), "withdraws", "ancestry")
  },
  "durable/src/time.ts": each(fixed, "present", "clock", "random"),
  "durable/src/tool.ts": each(effectOnly, "attempt", "compensation", "failuresOf"),
  "durable/src/words.ts": {
    ...each(reached, "Written", "inTime", "collected", "parts"),
    ...each(effectOnly, "failing"),
    ...each(none("keeps the parts of a reply as they come"), "Words")
  },
  "durable/src/wait.ts": each(effectOnly, "wait"),
  "durable/src/waiting.ts": each(
    effectOnly,
    "waitingFor",
    "list",
    "listedIn",
    "requestsOf",
    "isWithdrawn",
    "untilOver",
    "waitingNow"
  )
}
