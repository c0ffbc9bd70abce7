/** Bytes of images and files: the program has them in its errors, transcripts and snapshots, and no event has one. */
import { assert } from "@effect/vitest"
import {
  Agent,
  AgentEvent,
  Compaction,
  KintsugiError,
  LlmError,
  Message,
  Model,
  Recovery,
  RunError,
  Telemetry,
  Tool,
  ToolError,
  Usage
} from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Layer, Logger, Schema, Stream } from "effect"
import { schemas } from "../../../packages/core/src/event/Codec.ts"
import { withoutBytes } from "../../../packages/core/src/event/withoutBytes.ts"
import { agentWith, batch, busy, done, eventLog, scripted } from "../../_support/dialogue.ts"
import { classes } from "../../_support/errors.ts"
import { it, type Runnable } from "../../_support/run.ts"
import { recorder, textOf } from "../telemetry/_support/spans.ts"

const { call, calls, fails, make, text } = ScriptedModel

/** It is in the base64 of a picture, and nowhere else. */
const marker = "MARKERmarkerMARKERmarker"
const image = Message.image("image/png", { data: marker })
const words = "[image, image/png, 18 bytes, not shown]"

const settlement: Message.Settlement = { kind: "result", text: words, parts: [Message.text("seen"), image] }
const ofModel = Message.settle(
  {
    content: [Message.text("I look."), { type: "tool-call", id: "c", name: "shot", arguments: {} }],
    finish: "tool-calls",
    usage: Usage.empty,
    model: "m"
  },
  [settlement]
)
const ofUser = Message.user([Message.text("What is it?"), image])
const transcript = [Message.system("Look."), ofUser, ofModel]

/** All that an error has, beside its stack. */
const within = (_key: string, value: unknown): unknown =>
  value instanceof Error
    ? { ...value, message: value.message, beneath: [value.cause, value instanceof AggregateError && value.errors] }
    : value

/** The event as it is in memory, and as it is written down. */
const jsonOf = (event: object): string =>
  JSON.stringify([event, Schema.encodeUnknownSync(AgentEvent.AgentEvent)(event)], within) + JSON.stringify(event)

const usage = Usage.empty
const limited = RunError.BudgetExceededError.make({
  agent: "a",
  reason: "maxTurns",
  limit: 1,
  spent: 1,
  transcript,
  usage,
  partial: ""
})

/** What a field of an event may hold. */
const heavy: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  transcript: [transcript],
  message: [ofUser, ofModel],
  settlement: [settlement],
  use: [{ arguments: {}, settlement, attempts: 1 }],
  input: [[Message.text("What?"), image]],
  unread: [[{ id: "m1", message: ofUser }]],
  error: [limited],
  reasons: [[limited, limited]]
}

/** Fields without a message, a result, an input or an error. A snapshot is what a run goes on with: its server keeps it. */
const others = new Set(
  (
    "runId agent turn at parent cursor type startedIn skill by confidence prompt answerTurn model provider attempt entry reply text " +
    "discardedRunId kept dropped compaction before after ahead why callId tool foreignName calledAs arguments change data server action " +
    "handle expiresAt replaces characters bytes parts key repair answer request decision mayRunTwice layer tag verdict gaveUp rung delay " +
    "hint hintFrom left output issues isCut guard side reason index id spent limit wanted usage ledger finish endedBy open snapshot " +
    "isDefect options toolChoice tools contextWindow family changes sideEffects definedAt"
  ).split(" ")
)

const fieldsOf = (schema: (typeof schemas)[keyof typeof schemas]): ReadonlyArray<string> =>
  "fields" in schema ? Object.keys(schema.fields) : schema.members.flatMap(({ fields }) => Object.keys(fields))

const event = { runId: "r", agent: "a", turn: 1, at: 5 }

it.effect("no field of any event has bytes of a picture, nor has an error in it [P1538]", () =>
  Effect.sync(() => {
    for (const [type, schema] of Object.entries(schemas)) {
      for (const key of fieldsOf(schema)) {
        assert.isTrue(others.has(key) !== key in heavy, `${type}: does '${key}' have bytes?`)
        for (const value of heavy[key] ?? []) {
          // the fields of one type, of which the others do not matter here
          const given = { ...event, type, [key]: value } as unknown as AgentEvent.AgentEvent
          const json = JSON.stringify(withoutBytes(given), within)
          assert.include(JSON.stringify(given, within), marker, `${type}: ${key}`)
          assert.notInclude(json, marker, `${type}: ${key}`)
        }
      }
    }
  })
)

it.effect("an event without bytes is the same event, and an error in it the same error [P1538]", () =>
  Effect.sync(() => {
    const error = busy()
    const link = Message.image("image/png", { url: "https://a.test/b.png" })
    for (const [key, value] of Object.entries({
      transcript: [Message.user("go"), Message.user([link])],
      error,
      input: [1, null, { data: marker }, "x"],
      reasons: [error]
    })) {
      const given = { ...event, type: "run-failed", [key]: value } as unknown as AgentEvent.AgentEvent
      assert.strictEqual(withoutBytes(given), given, key)
    }
  })
)

it.effect(
  "a part without its bytes has its type, its name and their number, and a value that is no error is left [P1538]",
  () =>
    Effect.sync(() => {
      const parts = [Message.file("text/csv", { data: marker }, "a.csv"), Message.file("text/csv", { data: marker })]
      const given = { ...event, type: "tool-end", use: { settlement: { ...settlement, parts } } }
      // the fields of the event that do not matter here are left out
      const found = withoutBytes(given as unknown as AgentEvent.AgentEvent)
      assert(found.type === "tool-end")
      assert.deepStrictEqual(found.use.settlement, {
        ...settlement,
        parts: [
          { type: "file", mediaType: "text/csv", name: "a.csv", bytes: 18 },
          { type: "file", mediaType: "text/csv", bytes: 18 }
        ]
      })
      const thrown = { ...event, type: "run-failed", error: { transcript } } as unknown as AgentEvent.AgentEvent
      assert.strictEqual(withoutBytes(thrown), thrown)
    })
)

const failed = (error: unknown) => {
  const given = { ...event, type: "run-failed", error, isDefect: false, transcript, usage, ledger: [] } as const
  const found = withoutBytes(given)
  assert(found.type === "run-failed" && found.error instanceof Error)
  return { found, error: found.error }
}

it.effect(
  "every error with a transcript, and one that has such an error beneath, is the same without bytes [P1538]",
  () =>
    Effect.sync(() => {
      const carriers = Object.entries(classes).filter(([, one]) => "fields" in one && "transcript" in one.fields)
      assert.isAtLeast(carriers.length, 5)
      const fields = { agent: "a", tool: "t", callId: "c", text: "", issues: [], reason: "maxTurns", side: "input" }
      const ofPrice = { model: "m", option: "maxCost" }
      const more = { guard: "g", limit: 1, spent: 1, partial: "", candidates: [], answer: "", attempts: [], usage }
      for (const [tag, Class] of carriers) {
        const error = new Class({ ...fields, ...more, ...ofPrice, message: `${tag} happened`, transcript })
        const around: ReadonlyArray<Error> = [
          error,
          ToolError.executionErrorOf({ tool: "t", kind: "local", callId: "c", args: null }, error),
          ToolError.EscalationError.make({ source: "s", reason: "r", originalError: error }),
          ToolError.ToolExecutionError.make({ tool: "t", message: "m", attempts: [busy(), error], cause: error }),
          new Error("around", { cause: error }),
          new AggregateError([error], "several")
        ]
        for (const one of around) {
          const { error: light, found } = failed(one)
          assert.include(JSON.stringify(one, within), marker)
          assert.notInclude(jsonOf(found), marker)
          assert.notStrictEqual(light, one)
          assert.deepStrictEqual(
            [light.constructor, light.message, light.stack, Object.keys(light)],
            [one.constructor, one.message, one.stack, Object.keys(one)]
          )
          assert.strictEqual(failed(one).error, light)
          if (!KintsugiError.isKintsugiError(one)) continue
          assert(KintsugiError.isKintsugiError(light))
          assert.deepStrictEqual([light.code, light.isRetryable], [one.code, one.isRetryable])
          const read = Schema.decodeUnknownSync(AgentEvent.AgentEvent)(Schema.encodeSync(AgentEvent.AgentEvent)(found))
          assert(read.type === "run-failed")
          assert.strictEqual(Object(read.error).constructor, one.constructor)
        }
      }
      const circular: Error = Object.assign(new Error("round"), { transcript })
      circular.cause = circular
      assert.strictEqual(failed(circular).error.message, "round")
    })
)

const shot = Tool.make("shot", {
  description: "Takes a picture.",
  parameters: Schema.Struct({}),
  success: Schema.Struct({ png: Schema.String }),
  run: () => Effect.succeed({ png: marker })
}).pipe(Tool.parts(({ png }) => [Message.text("seen"), Message.image("image/png", { data: png })]))

const boom = scripted("boom", Effect.fail(busy()), Effect.fail(busy())).tool
const limit = { budget: { maxTurns: 1 } } as const
const seer = Agent.asTool(Agent.make("seer", { tools: [shot], ...limit }), { description: "Looks." })
const last = Compaction.make("last", ({ transcript }) => Effect.succeed(transcript.slice(-1)))
const look = calls(call("seer", { input: "look" }))

const free = { usdPerMillionTokens: { input: 0, output: 0 } }
const unpriced = Layer.succeed(Model.Model, {
  name: "unpriced",
  provider: "test",
  generate: () => Effect.never,
  stream: () => Stream.never
})

/** Runs that end in every way after a picture was returned, and what they fail with. */
const endings = {
  completed: { agent: agentWith(shot), steps: [batch("shot"), done] },
  BudgetExceededError: { agent: Agent.make("a", { tools: [shot], ...limit }), steps: [batch("shot")] },
  ToolExecutionError: {
    agent: agentWith(shot, boom.pipe(Tool.onError({ Busy: Recovery.raise }))),
    steps: [batch("shot"), batch("boom")]
  },
  GuardrailError: {
    agent: agentWith(shot).pipe(Agent.guardOutput(() => Agent.guard.block("no"))),
    steps: [batch("shot"), done]
  },
  UnknownPriceError: {
    agent: Agent.make("a", { tools: [shot], budget: { maxCost: 9, prices: { scripted: free } } }).pipe(
      Agent.prepareTurn(({ turn }) => Effect.succeed(turn === 1 ? {} : { model: unpriced }))
    ),
    steps: [batch("shot")]
  },
  InvalidOutputError: {
    agent: Agent.make("a", { tools: [shot], output: Schema.Finite }).pipe(Agent.outputRetries(0)),
    steps: [batch("shot"), text("no number")]
  },
  compacted: {
    agent: agentWith(shot).pipe(Agent.onLlmError({ ContextTooLongError: Recovery.compact(last) })),
    steps: [batch("shot"), fails(LlmError.ContextTooLongError.make({ model: "m" })), done]
  },
  handed: {
    agent: agentWith(seer.pipe(Tool.onError({ orElse: Recovery.tell() }))),
    steps: [look, batch("shot"), done]
  },
  raised: { agent: agentWith(seer.pipe(Tool.onError({ orElse: Recovery.raise }))), steps: [look, batch("shot")] }
}

it.run("no event, span and log of a run has bytes, and the program has them in its errors [P1538]", (run) =>
  Effect.gen(function* () {
    for (const [name, { agent, steps }] of Object.entries(endings)) {
      const log = eventLog()
      const seen = recorder()
      const lines: Array<unknown> = []
      const logger = Logger.make(({ message }) => void lines.push(message))
      const model = yield* make(...steps)
      // the types of their tools differ
      const any = agent as unknown as Agent.Agent<string, unknown, unknown, Model.Model>
      const deaf = Agent.onEvent(() => Effect.die("no"))
      const listened: Runnable<string, unknown, unknown, Model.Model> = any.pipe(log.listen, deaf)
      const exit = yield* run(listened, "go").pipe(
        Effect.exit,
        Effect.provide([model.layer, Telemetry.layerWith({ content: true }), Logger.layer([logger])]),
        seen.provide
      )
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      if (name in classes) {
        assert(error instanceof (classes[name] ?? Error), name)
        assert.include(JSON.stringify(error, within), marker)
      }
      assert.isNotEmpty(lines)
      assert.notInclude(JSON.stringify(lines), marker)
      assert.notInclude(textOf(seen.spans), marker)
      for (const one of log.all) assert.notInclude(jsonOf(one), marker, `${name}: ${one.type}`)
    }
  })
)

it.effect(
  "pictures of a user are in words in events, and in the inbox, its answers and the transcript as they are [P1538]",
  () =>
    Effect.gen(function* () {
      const log = eventLog()
      const model = yield* make(done)
      const agent = Agent.make("a", { input: Message.UserContent }).pipe(log.listen)
      const program = Effect.gen(function* () {
        const run = yield* agent.start([Message.text("What?"), image])
        yield* run.say([image])
        assert.include(JSON.stringify(yield* run.waiting), marker)
        yield* run.outcome
        assert.include(JSON.stringify(yield* run.transcript), marker)
        return yield* Stream.runCollect(run.events)
      })
      const events = yield* program.pipe(Effect.provide(model.layer))
      assert.include(JSON.stringify(model.requests), marker)
      const [start] = events
      assert(start?.type === "run-start")
      assert.deepStrictEqual(start.input, [Message.text("What?"), Message.text(words)])
      assert.deepStrictEqual(start.transcript, [Message.user([Message.text("What?"), Message.text(words)])])
      assert.deepStrictEqual(log.of("message-queued")[0]?.message, Message.user([Message.text(words)]))
      for (const one of [...events, ...log.all]) assert.notInclude(jsonOf(one), marker, one.type)
    })
)

it.effect("a message that no run has read is returned with its bytes [P1538]", () =>
  Effect.gen(function* () {
    const model = yield* make(done, done)
    const log = eventLog()
    const two = Agent.make("a", {}).pipe(Agent.andThen(Agent.make("b", {})), log.listen)
    const run = yield* Effect.provide(two.start("go"), model.layer)
    // a composition reads nothing itself
    yield* run.say([image])
    const exit = yield* Effect.exit(run.outcome)
    assert(Exit.isSuccess(exit) && exit.value._tag === "Completed")
    assert.deepStrictEqual(
      exit.value.unread?.map(({ message }) => message),
      [Message.user([image])]
    )
    for (const one of log.all) assert.notInclude(jsonOf(one), marker, one.type)
  })
)
