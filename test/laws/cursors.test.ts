/** The law of readers that come back: a cursor, and what is behind it, are as good as all events. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Message, Model, Recovery, Tool } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Schema, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { EventLog } from "../../packages/core/src/event/EventLog.ts"
import { toParts } from "../../packages/core/src/testing/ScriptedModel.ts"
import { law } from "../_support/laws.ts"
import { overADay } from "../_support/dialogue.ts"
import { ofRuns } from "./_support/runs.ts"
import { runners } from "../_support/run.ts"
import { agentOf, modelOf, type Story, story } from "./_support/stories.ts"

/** What a client shows of each run: the text of each turn, without the attempts that are discarded. */
class Client {
  readonly shown = new Map<string, string>()
  readonly events: Array<AgentEvent.AgentEvent> = []

  apply(events: ReadonlyArray<AgentEvent.AgentEvent>): this {
    for (const event of events) {
      this.events.push(event)
      const { runId, type } = event
      const before = this.shown.get(runId) ?? ""
      if (type === "events-lost") {
        this.shown.clear()
        this.shown.set(runId, event.text ?? "")
      } else if (type === "text-delta") this.shown.set(runId, before + event.text)
      else if (type === "attempt-discarded" && event.discardedRunId === undefined) {
        assert.isTrue(before.endsWith(event.text), `'${before}' does not end with what is discarded: '${event.text}'`)
        this.shown.set(runId, before.slice(0, before.length - event.text.length))
      } else if (type === "turn-end" && before !== "") {
        // what was shown stays, and is not discarded any more
        this.shown.set(`${runId} turn ${event.turn}`, before)
        this.shown.set(runId, "")
      }
    }
    return this
  }

  /** The pictures of two clients are the same exactly when they show the same. */
  get picture() {
    const { events } = this
    const others = events.filter(({ type }) => type !== "text-delta" && type !== "reasoning-delta")
    return {
      transcript: AgentEvent.transcriptOf(events),
      shown: Object.fromEntries(this.shown),
      events: others.map((event) => ({ ...event, cursor: undefined }))
    }
  }
}

/** A run that writes a lot, with attempts that break off: in each turn so many letters of each attempt, the last of which counts. */
type Writing = ReadonlyArray<ReadonlyArray<number>>

interface Case {
  readonly made: Story | Writing
  readonly limits: { readonly events: number; readonly bytes: number }
  /** Of a hundred events, those that the client has had, and those that there are when it comes back. */
  readonly had: number
  readonly late: number
}

const writing: fc.Arbitrary<Writing> = fc.array(
  fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 3 }),
  {
    minLength: 1,
    maxLength: 3
  }
)

const share = fc.noBias(fc.integer({ min: 0, max: 100 }))

const cases: fc.Arbitrary<Case> = fc.record({
  made: fc.oneof(story, writing),
  limits: fc.record({
    events: fc.oneof(fc.noBias(fc.integer({ min: 10, max: 80 })), fc.constantFrom(1, 3, 4096)),
    bytes: fc.constantFrom(1000, 4 * 1024 * 1024, 4 * 1024 * 1024, 4 * 1024 * 1024)
  }),
  had: share,
  late: share
})

/** Starts the run of a case. */
const started = (made: Story | Writing): Effect.Effect<Agent.Run<unknown, unknown>, never, Scope.Scope> => {
  if (!isWriting(made)) {
    return Effect.provideService(agentOf(made).start("go"), Model.Model, modelOf(made.steps).service)
  }
  const steps = made.flatMap((attempts, turn) =>
    attempts.map((letters, index) => ({
      text: Array.from({ length: letters }, (_, at) => String.fromCharCode(97 + (at % 26))).join(""),
      isLast: index === attempts.length - 1,
      isOver: turn === made.length - 1
    }))
  )
  const next = steps.values()
  const service: Model.Service = {
    name: "m",
    provider: "p",
    generate: () => Effect.die("it is streamed"),
    stream: () => {
      const { isLast = true, isOver = true, text = "" } = next.next().value ?? {}
      const call = isOver ? [] : [ScriptedModel.call("look", {})]
      const whole = toParts(ScriptedModel.reply({ content: [Message.text(text), ...call] }))
      return Stream.fromIterable<Model.Part>(isLast ? whole : [{ type: "text-delta", text }])
    }
  }
  const look = Tool.make("look", {
    description: "d",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.succeed("fine")
  })
  const agent = Agent.make("writer", { tools: [look] }).pipe(
    Agent.onLlmError({ orElse: Recovery.retry({ retries: 5 }) }, { onPartial: "restart" })
  )
  return Effect.provideService(agent.start("go"), Model.Model, service)
}

const isWriting = (made: Story | Writing): made is Writing => Array.isArray(made)

/** As if each model had written letter by letter, and sometimes nothing. */
const lettered = (events: ReadonlyArray<AgentEvent.AgentEvent>): ReadonlyArray<AgentEvent.AgentEvent> =>
  events.flatMap((event): ReadonlyArray<AgentEvent.AgentEvent> =>
    event.type === "text-delta" ? [...event.text, ""].map((text) => ({ ...event, text })) : [event]
  )

/** The events of a case, however it ended. */
const played = (made: Story | Writing) =>
  Effect.gen(function* () {
    const run = yield* started(made)
    const interruptAt = isWriting(made) ? undefined : made.interruptAt
    const ending = yield* Effect.forkChild(Effect.exit(run.outcome))
    if (interruptAt !== undefined) {
      yield* TestClock.adjust(interruptAt)
      yield* run.interrupt
    }
    yield* overADay(Fiber.join(ending))
    return { events: lettered(yield* Stream.runCollect(run.events)), transcript: yield* run.transcript }
  })

law(
  "what is behind a cursor, applied to what a client had, is all events: what is gone is an error, or one state [L1012 P1541 P1542]",
  cases,
  ofRuns(
    ({ had, late, limits, made }: Case) =>
      Effect.gen(function* () {
        const { events, transcript } = yield* played(made)
        const all = new Client().apply(events).picture
        assert.deepStrictEqual(all.transcript, transcript)
        // the client comes back while the run is at work, behind what it had
        const come = Math.floor((late / 100) * events.length)
        const count = Math.floor((had / 100) * come)
        const log = new EventLog()
        log.limit(limits)
        for (const event of events.slice(0, come)) log.push(event)
        const [first] = yield* Stream.runCollect(Stream.take(log.read({ onGap: "state" }), Math.min(1, come)))
        const position = Cursor.read(first?.cursor ?? "")
        const after = position === undefined ? undefined : Cursor.of({ ...position, number: count })
        const read = <E>(stream: Stream.Stream<AgentEvent.AgentEvent, E>) =>
          Effect.forkChild(Effect.exit(Stream.runCollect(stream)), { startImmediately: true })
        const reading = [log.read({ after }), log.read({ after }), log.read({ after, onGap: "state" })]
        const readers = yield* Effect.forEach(reading, read)
        for (const event of events.slice(come)) {
          log.push(event)
          yield* Effect.yieldNow
        }
        log.end()
        const [strict, other, tolerant] = yield* Effect.forEach(readers, Fiber.join)
        assert.deepStrictEqual(strict, other)
        const rest = tolerant !== undefined && Exit.isSuccess(tolerant) ? tolerant.value : []
        const numbers = rest.map(({ cursor = "" }) => Cursor.read(cursor)?.number ?? NaN)
        for (const [index, number] of numbers.entries()) assert.isAbove(number, numbers[index - 1] ?? -1)
        assert.strictEqual(numbers.at(-1) ?? count, events.length)
        const lost = rest.findLastIndex(({ type }) => type === "events-lost")
        // a client that has missed something has the same transcript, and is told that it has
        const client = new Client().apply(lost < 0 ? events.slice(0, count) : []).apply(rest.slice(Math.max(0, lost)))
        assert.deepStrictEqual(client.picture.transcript, transcript)
        if (lost >= 0) return assert.isTrue(after === undefined || (strict !== undefined && Exit.isFailure(strict)))
        assert.deepStrictEqual(strict, tolerant)
        assert.deepStrictEqual(client.picture, all)
      }),
    runners.streamed
  )
)
