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
import { type Tale, tale, epochsOf } from "./_support/tales.ts"

/** What a client shows of each run: the text of each turn, without the attempts that are discarded. */
class Client {
  readonly shown = new Map<string, string>()
  readonly events: Array<AgentEvent.AgentEvent> = []
  /** The run of the last state that took the place of events: what its sub-agents were writing is not in it. */
  #lostOf: string | undefined

  apply(events: ReadonlyArray<AgentEvent.AgentEvent>): this {
    for (const event of events) {
      this.events.push(event)
      const { runId, type } = event
      const before = this.shown.get(runId) ?? ""
      if (type === "events-lost") {
        this.shown.clear()
        this.shown.set(runId, event.text ?? "")
        this.#lostOf = runId
      } else if (type === "attempt-continued") {
        const isAsBefore = event.attempt === 0 || before === event.kept || this.#hasLost(runId)
        assert.isTrue(isAsBefore, `'${before}' is not what is kept: '${event.kept}'`)
        this.shown.set(runId, event.kept)
      } else if (type === "text-delta") this.shown.set(runId, before + event.text)
      else if (type === "attempt-discarded" && event.discardedRunId === undefined) {
        assert.isTrue(
          before.endsWith(event.text) || this.#hasLost(runId),
          `'${before}' does not end with what is discarded: '${event.text}'`
        )
        this.shown.set(runId, before.slice(0, Math.max(0, before.length - event.text.length)))
      } else if (type === "turn-end" && before !== "") {
        // what was shown stays, and is not discarded any more
        this.shown.set(`${runId} turn ${event.turn}`, before)
        this.shown.set(runId, "")
      }
    }
    return this
  }

  #hasLost(runId: string): boolean {
    return this.#lostOf !== undefined && runId !== this.#lostOf
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
  readonly made: Story | Writing | Tale
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
  made: fc.oneof(story, writing, tale),
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

const isTale = (made: Case["made"]): made is Tale => "turns" in made

/** The events of a case, however it ended; of a tale, those of each epoch. */
const played = (made: Case["made"]) =>
  Effect.gen(function* () {
    if (isTale(made)) {
      const epochs = yield* epochsOf({ ...made, kept: 4096 })
      return epochs.map(({ events, transcript }) => ({ events: lettered(events), transcript }))
    }
    const run = yield* started(made)
    const interruptAt = isWriting(made) ? undefined : made.interruptAt
    const ending = yield* Effect.forkChild(Effect.exit(run.outcome))
    if (interruptAt !== undefined) {
      yield* TestClock.adjust(interruptAt)
      yield* run.interrupt
    }
    yield* overADay(Fiber.join(ending))
    return [{ events: lettered(yield* Stream.runCollect(run.events)), transcript: yield* run.transcript }]
  })

type Played = Effect.Success<ReturnType<typeof played>>[number]

/** A client comes back while a run is at work, behind what it had. */
const comesBack = ({ events, transcript }: Played, { had, late, limits }: Omit<Case, "made">) =>
  Effect.gen(function* () {
    const all = new Client().apply(events).picture
    assert.deepStrictEqual(all.transcript, transcript)
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
    const state = rest[lost]
    if (state?.type === "events-lost") {
      // the state has what the model call at work has written
      const shown = new Client().apply(events.slice(0, numbers[lost])).shown.get(state.runId) ?? ""
      assert.strictEqual(state.text ?? "", shown)
    }
    if (lost >= 0) return assert.isTrue(after === undefined || (strict !== undefined && Exit.isFailure(strict)))
    assert.deepStrictEqual(strict, tolerant)
    assert.deepStrictEqual(client.picture, all)
  })

law(
  "what is behind a cursor, applied to what a client had, is all events: what is gone is an error, or one state [L1012 P1541 P1542]",
  cases,
  ofRuns(
    ({ made, ...how }: Case) =>
      Effect.flatMap(played(made), (epochs) => Effect.forEach(epochs, (epoch) => comesBack(epoch, how))),
    runners.streamed
  )
)

law(
  "a reader comes back at every cursor of a run whose attempts are discarded or go on, with sub-agents, messages, shortened conversations and suspensions [L1012 P1370 P1541]",
  tale,
  ofRuns(
    Effect.fnUntraced(function* (made: Tale) {
      const epochs = yield* epochsOf(made)
      const before: Array<AgentEvent.AgentEvent> = []
      let older: string | undefined
      for (const { events, run, transcript } of epochs) {
        const all = yield* Stream.runCollect(run.events({}))
        // of a run that keeps few events, the first may be gone
        const isWhole = all[0]?.type !== "events-lost"
        assert.strictEqual(isWhole, events[0]?.type !== "events-lost")
        assert.deepStrictEqual(new Client().apply(all).picture.transcript, transcript)
        for (const [index, { cursor }] of all.entries()) {
          const rest = yield* Stream.runCollect(run.events({ after: cursor }))
          assert.deepStrictEqual(rest, all.slice(index + 1))
        }
        if (older !== undefined) {
          // of the epoch before it knows nothing: a reader from there gets the state, and the rest
          const { reason } = yield* Effect.flip(Stream.runCollect(run.events({ after: older })))
          assert.strictEqual(reason, "expired")
          const anew = yield* Stream.runCollect(run.events({ after: older, onGap: "state" }))
          assert.strictEqual(anew[0]?.type, "events-lost")
          assert.deepStrictEqual(AgentEvent.transcriptOf([...before, ...anew]), transcript)
        }
        before.push(...all)
        older = all.at(-1)?.cursor
      }
    }),
    runners.streamed
  )
)
