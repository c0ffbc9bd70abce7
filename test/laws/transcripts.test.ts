/** Laws of transcripts: mended, the same whole and streamed, and gone on with after a suspension. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Budget, Message, Model, Recovery, Skill, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Random, Schema } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { type Busy, busy, eventLog, interruptedAt, lastTranscript, lastUsage, overADay } from "../_support/dialogue.ts"
import { deciding, snapshotOf } from "../_support/suspension.ts"
import { type Runner, runners } from "../_support/run.ts"
import { calling, lawOfRuns } from "./_support/runs.ts"
import { agentOf, modelOf, type Story, story } from "./_support/stories.ts"
import { batches, constantFrom, law } from "../_support/laws.ts"
import { anyMessage, foreign, mostly } from "./_support/transcripts.ts"

// --- mended

law(
  "repair is total and idempotent, loses no call, keeps the order, and is the identity on transcripts of ours [L1002 P402]",
  fc.array(foreign, { maxLength: 12 }),
  (history) =>
    Effect.sync(() => {
      const once = Message.repair(history)
      assert.deepStrictEqual(Message.repair(once), once)
      const callsOf = (messages: ReadonlyArray<Message.Foreign>) =>
        messages.flatMap((message) =>
          message.role === "assistant"
            ? message.content.flatMap((part) =>
                part.type === "tool-call" ? [part] : part.type === "settled-call" ? [part.call] : []
              )
            : []
        )
      assert.deepStrictEqual(callsOf(once), callsOf(history))
      assert.deepStrictEqual(
        once.map(({ role }) => role),
        history.flatMap(({ role }) => (role === "tool" ? [] : [role]))
      )
      const texts = new Set(history.flatMap((message) => (message.role === "tool" ? [message.text] : [])))
      const given = new Set<unknown>(
        history.flatMap((message) => (message.role === "assistant" ? message.content : []))
      )
      for (const message of once) {
        if (message.role !== "assistant") continue
        for (const part of message.content) {
          if (part.type !== "settled-call" || given.has(part)) continue
          assert(part.settlement === Message.interrupted || texts.has(part.settlement.text))
        }
      }
    })
)

law(
  "repair makes a transcript of any JSON, and leaves that transcript unchanged [L1002 P402]",
  mostly(fc.array(fc.oneof(anyMessage, foreign), { maxLength: 6 })),
  (history) =>
    Effect.sync(() => {
      const once = Message.repair(history)
      assert.isTrue(isTranscript(once))
      assert.deepStrictEqual(Message.repair(once), once)
    })
)

const isTranscript = Schema.is(Message.Transcript)

// --- whole and streamed

const endOf = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return `success ${String(exit.value)}`
  if (Exit.hasInterrupts(exit)) return "interrupted"
  const error = Cause.squash(exit.cause)
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

/** All that there is to know of a story: what each run asked for, in what order, and how everything ended. */
const outcomeOf = Effect.fnUntraced(function* (story: Story, run: Runner) {
  const log = eventLog()
  const { requests, service } = modelOf(story.steps)
  const running = Effect.provideService(run(agentOf(story).pipe(log.listen), "go"), Model.Model, service)
  const exit = yield* story.interruptAt === undefined ? overADay(running) : interruptedAt(story.interruptAt, running)
  const end = log.end()
  return {
    end: endOf(exit),
    requests: [...requests.values()],
    // only a stream has shown what was stopped
    transcript: lastTranscript(end).filter((one) => one.role !== "assistant" || one.incomplete !== true),
    usage: lastUsage(end),
    at: end?.at
  }
})

law("a streamed run has the requests, the transcript, the usage and the end of a whole run [L1004]", story, (story) =>
  Effect.gen(function* () {
    // each on a clock of its own, with the same ids
    const [whole, streamed] = yield* Effect.forEach([runners.whole, runners.streamed], (run) =>
      Random.withSeed(outcomeOf(story, run).pipe(Effect.scoped, Effect.provide(TestClock.layer())), "ids")
    )
    assert.deepStrictEqual(streamed, whole)
  })
)

// --- gone on with

const kinds = ["look", "look", "pay", "fail", "fail"] as const

interface Continued {
  readonly turns: ReadonlyArray<ReadonlyArray<(typeof kinds)[number]>>
  /** After which turns it is suspended, besides wherever a decision is wanted. */
  readonly cuts: ReadonlyArray<number>
  readonly retryAttempts: number
}

const continued: fc.Arbitrary<Continued> = fc.record({
  turns: batches(constantFrom(...kinds), { maxTurns: 6 }),
  cuts: fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 4 }).map((cuts) => cuts.toSorted((x, y) => x - y)),
  retryAttempts: fc.integer({ min: 0, max: 6 })
})

const enough = 50

/** An agent of a story, which writes down what its tools do. */
const working = ({ retryAttempts }: Continued, maxTurns: number) => {
  const ran: Array<string> = []
  const tool = <const Name extends string>(name: Name, run: () => Effect.Effect<string, Busy>) =>
    Tool.make(name, {
      description: "d",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: (_, { attempt, callId }) => {
        ran.push(`${name} ${callId} ${attempt}`)
        return run()
      }
    })
  const tools = [
    tool("look", () => Effect.succeed("seen")),
    tool("pay", () => Effect.succeed("paid")).pipe(Tool.requireApproval()),
    tool("fail", () => Effect.fail(busy("always the same")))
  ] as const
  const agent = Agent.make("worker", {
    budget: { maxTurns, maxToolCalls: enough },
    skills: [Skill.make("work", { description: "d", tools })]
  }).pipe(
    Agent.toolDefaults(Recovery.presets.tellThenToolsOff({ retryAttempts })),
    // a repeated failure ends the run that cannot be suspended, and so the other one
    Agent.onBudgetExceeded(({ reason }) => (reason === "maxTurns" ? Budget.checkpoint : Budget.stop))
  )
  return { agent, ran }
}

const scriptOf = ({ turns }: Continued) =>
  calling(...turns.map((names, turn) => names.map((name, n) => ScriptedModel.call(name, {}, `c${turn}.${n}`))))

lawOfRuns(
  "a run that is suspended at any turn, written as JSON, read and gone on with is the run to the end [L1003]",
  continued,
  Effect.fnUntraced(function* (story, run) {
    const whole = working(story, enough)
    const model = yield* scriptOf(story)
    const log = eventLog()
    const exit = yield* Effect.exit(
      run(whole.agent.pipe(log.listen), "go").pipe(
        Effect.provide(Approval.layer(() => Effect.succeed(Approval.approve))),
        Effect.provide(model.layer)
      )
    )
    const cut = working(story, story.cuts[0] ?? enough)
    const resumed = yield* scriptOf(story)
    const started = <I, O, E, R>(
      agent: { readonly start: (input: I) => Effect.Effect<Agent.Run<O, E>, never, R> },
      input: I
    ) =>
      Effect.gen(function* () {
        const handle = yield* agent.start(input)
        const exit: Exit.Exit<Agent.Outcome<O>, unknown> = yield* Effect.exit(handle.outcome)
        return { exit, usage: yield* handle.usage, transcript: yield* handle.transcript }
      }).pipe(Effect.provide(resumed.layer))
    const cuts = [...story.cuts.slice(1), enough]
    let segment = yield* started(cut.agent, "go")
    while (Exit.isSuccess(segment.exit) && segment.exit.value._tag === "Suspended") {
      const from = yield* snapshotOf(segment.exit.value)
      const isWaiting = Snapshot.requestsOf(from).length > 0
      const input = isWaiting ? deciding(from) : { from, budget: { maxTurns: cuts.shift() ?? enough } }
      segment = yield* started(Agent.resume(cut.agent), input)
    }
    const completed = Exit.map(segment.exit, (outcome) => (outcome._tag === "Completed" ? outcome.output : outcome))
    assert.strictEqual(endOf(completed), endOf(exit))
    // who waits for a decision runs later than its siblings
    assert.deepStrictEqual(cut.ran.toSorted(), whole.ran.toSorted())
    assert.deepStrictEqual(
      resumed.requests.map(({ messages, toolChoice }) => ({ messages, toolChoice })),
      model.requests.map(({ messages, toolChoice }) => ({ messages, toolChoice }))
    )
    assert.deepStrictEqual(segment.usage, lastUsage(log.end()))
    if (Exit.isFailure(exit)) assert.deepStrictEqual(segment.transcript, lastTranscript(log.end()))
  })
)
