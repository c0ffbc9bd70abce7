/** What wins between two turns, and at the end of a run: each pair in both orders, and at one instant. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, Budget, Compaction, Message, Recovery, Tool } from "@kintsugi/core"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Exit, Fiber, Schema, Scope } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { batch, type Busy, busy, calm, done, type Gone, gone, isTerminal, settlements } from "../_support/dialogue.ts"
import { law } from "../_support/laws.ts"
import { runners } from "../_support/run.ts"
import { deferring } from "../core/tool/_support/deferring.ts"
import { eventsOf, started } from "../core/run/_support/saying.ts"
import { lasting } from "./_support/lasting.ts"
import { lawOfRuns, ofRuns } from "./_support/runs.ts"

const names = ["look", "send"] as const
type Name = (typeof names)[number]

/** What a tool does in a turn: with `busy` the model reads the failure, and all tools are off. */
type Does = "works" | "gone" | "busy"

interface Choice {
  readonly tools: ReadonlyArray<Name> | undefined
  readonly toolChoice: "auto" | "none" | "required" | { readonly tool: Name } | undefined
}

interface PlannedTurn {
  readonly calls: ReadonlyArray<Name>
  readonly does: Readonly<Record<Name, Does>>
  readonly choice: Choice
}

const does = fc.constantFrom<Does>("works", "works", "gone", "gone", "gone", "busy")

const toolChoice = fc.constantFrom<Choice["toolChoice"][]>(
  "auto",
  "none",
  "required",
  { tool: "look" },
  { tool: "send" },
  undefined
)

const choice: fc.Arbitrary<Choice> = fc
  .record({ tools: fc.option(fc.subarray([...names]), { nil: undefined }), toolChoice })
  // a demand for what the same choice leaves out is a defect
  .filter(({ toolChoice, tools = names }) =>
    typeof toolChoice === "object" ? tools.includes(toolChoice.tool) : toolChoice !== "required" || tools.length > 0
  )

const plannedTurn: fc.Arbitrary<PlannedTurn> = fc.record({
  calls: fc.subarray([...names], { minLength: 1 }),
  does: fc.record({ look: does, send: does }),
  choice
})

/** What each request offers, and how each call is settled. */
const narrowed = (turns: ReadonlyArray<PlannedTurn>, limit: number) => {
  const repeats = new Map<string, number>()
  let isOff = false
  let withheld: ReadonlyArray<Name> = []
  return turns.map(({ calls, choice: { toolChoice = "auto", tools = names }, does }) => {
    const left = names.filter((name) => tools.includes(name) && (isOff || !withheld.includes(name)))
    const isMissing = typeof toolChoice === "object" ? !left.includes(toolChoice.tool) : left.length === 0
    const isDemanded = typeof toolChoice === "object" || toolChoice === "required"
    const request = { tools: left, toolChoice: isOff ? "none" : isDemanded && isMissing ? "auto" : toolChoice }
    const ends = calls.map((name) => {
      if (isOff) return "No tool can be called"
      if (withheld.includes(name)) return "failed too often"
      if (toolChoice === "none" || !tools.includes(name)) return "is not available in this turn"
      return does[name]
    })
    withheld = []
    for (const [index, name] of calls.entries()) {
      if (ends[index] === "works") repeats.delete(name)
      if (ends[index] !== "gone") continue
      repeats.set(name, (repeats.get(name) ?? 0) + 1)
      if (repeats.get(name) === limit) withheld = [...withheld, name]
    }
    isOff ||= ends.includes("busy")
    return { request, ends }
  })
}

lawOfRuns(
  "tools that are off, and tools that are withheld, win over what prepareTurn chooses before, after and in that turn [L1210 P1552]",
  fc.record({ turns: fc.array(plannedTurn, { minLength: 1, maxLength: 5 }), limit: fc.integer({ min: 1, max: 2 }) }),
  ({ limit, turns }, run) =>
    Effect.gen(function* () {
      let present = 0
      const making = <const N extends Name>(name: N) =>
        Tool.make(name, {
          description: "d",
          parameters: Schema.Struct({ n: Schema.optionalKey(Schema.Finite) }),
          success: Schema.String,
          run: (): Effect.Effect<string, Busy | Gone> => {
            const found = turns[present - 1]?.does[name]
            if (found === "busy") return Effect.fail(busy())
            return found === "gone" ? Effect.fail(gone()) : Effect.succeed("works")
          }
        }).pipe(
          Tool.onError({
            Busy: Recovery.tell(() => "busy", { then: "tools-off" }),
            Gone: Recovery.tell(() => "gone")
          })
        )
      const agent = Agent.make("clerk", {
        tools: [making("look"), making("send")],
        budget: { repeatedFailures: { hint: 1, withhold: limit, stop: 90 } }
      }).pipe(
        Agent.prepareTurn(({ turn }) => {
          present = turn
          return Effect.succeed(turns[turn - 1]?.choice ?? {})
        }),
        Agent.onBudgetExceeded(({ limit }) => Budget.extend(limit + 10))
      )
      const model = yield* ScriptedModel.make(...turns.map(({ calls }) => batch(...calls)), done)
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
      const expected = narrowed(turns, limit)
      const requests = model.requests.slice(0, turns.length).map(({ toolChoice, tools }) => ({
        tools: tools.map(({ name }) => name),
        toolChoice
      }))
      assert.deepStrictEqual(
        requests,
        expected.map(({ request }) => request)
      )
      const read = settlements(model.requests.at(-1)?.messages ?? [])
      const wanted = expected.flatMap(({ ends }) => ends)
      assert.lengthOf(read, wanted.length)
      for (const [index, text] of wanted.entries()) assert.include(read[index], text)
    })
)

/** How long something takes: often around the second for which a run waits. */
const millis = fc.oneof(fc.constantFrom(0, 1, 2, 998, 999, 1000, 1001, 1002, 5000), fc.integer({ min: 0, max: 1500 }))

interface Heard {
  readonly first: number
  readonly last: number
}

const heard: fc.Arbitrary<Heard> = fc.record({ first: millis, last: millis })

const grace = 1000

lawOfRuns(
  "a run that succeeds or fails waits for its listeners at most a second, and one that is interrupted before, in or after that second does not; each is handed the end once [L1211 P1503]",
  fc.record({
    takes: fc.integer({ min: 0, max: 3 }),
    isFailing: fc.boolean(),
    listeners: fc.array(heard, { minLength: 1, maxLength: 3 }),
    attached: heard,
    interrupted: fc.option(fc.oneof(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 1010 })))
  }),
  ({ attached, interrupted, isFailing, listeners, takes }, run) =>
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const own = yield* Scope.fork(scope)
      const start = yield* Clock.currentTimeMillis
      const now = Effect.map(Clock.currentTimeMillis, (at) => at - start)
      const hearing = ({ first, last }: Heard, options?: { readonly scope: Scope.Scope }) => {
        const handed: Array<readonly [string, number]> = []
        const handled: Array<readonly [string, number]> = []
        const handle = (event: AgentEvent.AgentEvent) =>
          Effect.gen(function* () {
            if (!isTerminal(event) && event.type !== "run-start") return
            const wait = isTerminal(event) ? last : first
            handed.push([event.type, yield* now])
            if (wait > 0) yield* Effect.sleep(wait)
            handled.push([event.type, yield* now])
          })
        const listen = options === undefined ? Agent.onEvent(handle) : Agent.onEvent(handle, options)
        return { handed, handled, listen }
      }
      const each = listeners.map((one) => hearing(one))
      const other = hearing(attached, { scope: own })
      const ends = isFailing ? Effect.fail("broken") : Effect.succeed("done")
      const plain = Agent.deterministic("worker", () => Effect.delay(ends, takes)).pipe(other.listen)
      const agent = each.reduce((agent, { listen }) => agent.pipe(listen), plain)
      let endedAt = -1
      const fiber = yield* run(agent, "go").pipe(
        Effect.onExit(() => Effect.map(now, (at) => void (endedAt = at))),
        Effect.forkChild({ startImmediately: true })
      )
      if (interrupted !== null) yield* Effect.forkChild(Effect.delay(Fiber.interrupt(fiber), interrupted))
      yield* calm
      for (let nth = 0; nth < 10 && fiber.pollUnsafe() === undefined; nth++) yield* TestClock.adjust(grace)
      yield* Fiber.await(fiber)
      const [type = "none"] = other.handed.find(([type]) => type !== "run-start") ?? each[0]?.handed.at(-1) ?? []
      const isInterrupted = type === "run-interrupted"
      // at one instant, either may be first
      if (interrupted === null || interrupted > takes) assert.isFalse(isInterrupted)
      if (interrupted !== null && interrupted < takes) assert.isTrue(isInterrupted)
      const over = isInterrupted && interrupted !== null ? interrupted : takes
      const through = ({ first, last }: Heard) => Math.max(over, first) + last
      const waited = isInterrupted ? over : Math.min(over + grace, Math.max(over, ...listeners.map(through)))
      const end = interrupted === null || isInterrupted ? waited : Math.min(waited, interrupted)
      assert.strictEqual(endedAt, end)
      const seen = JSON.stringify(each.map(({ handed, handled }) => [handed, handled]))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(JSON.stringify(each.map(({ handed, handled }) => [handed, handled])), seen)
      for (const [index, { handed, handled }] of each.entries()) {
        const one = listeners[index] ?? { first: 0, last: 0 }
        const ofEnd = handed.filter(([name]) => name !== "run-start")
        assert.deepStrictEqual(ofEnd, [[type, Math.min(end, Math.max(over, one.first))]])
        const isThrough = handled.some(([name]) => name === type)
        if (through(one) < end || one.last === 0) assert.isTrue(isThrough)
        if (through(one) > end && one.last > 0) assert.isFalse(isThrough)
        // the last instant counts for a listener that was handed the end at once
        if (one.first < over && through(one) === end && end === over + grace) assert.isTrue(isThrough)
      }
      // it lives with its scope
      const at = Math.max(over, attached.first)
      assert.deepStrictEqual(other.handed.slice(1), [[type, at]])
      assert.deepStrictEqual(other.handled.slice(1), [[type, at + attached.last]])
    })
)

/** What can be due at a safe point, in the order in which the run does it. */
const steps = [
  "interruption",
  "hard failure",
  "result",
  "first",
  "second",
  "limit",
  "guard",
  "compaction",
  "preparation",
  "tools off"
] as const
type Step = (typeof steps)[number]

/** The model reads that there were calls, and nothing of their results. */
const briefly = Compaction.make("briefly", ({ transcript }) =>
  transcript.map((message) =>
    message.role !== "assistant"
      ? message
      : {
          ...message,
          content: message.content.map((part) =>
            part.type === "settled-call" ? { ...part, settlement: { ...part.settlement, text: "" } } : part
          )
        }
  )
)

/** What a run does at a safe point at which these steps are due. */
const doneAt = (due: ReadonlySet<Step>): ReadonlyArray<string> => {
  if (due.has("interruption")) return ["run-interrupted"]
  if (due.has("hard failure")) return ["run-failed Busy"]
  const read = (["result", "first", "second"] as const).filter((one) => due.has(one))
  if (due.has("limit")) return [...read, "run-failed BudgetExceededError"]
  if (due.has("guard") && (due.has("first") || due.has("second"))) return [...read, "run-failed GuardrailError"]
  return [
    ...read,
    ...(due.has("compaction") ? ["compaction"] : []),
    ...(due.has("preparation") ? ["preparation"] : []),
    `asked with ${due.has("tools off") ? "none" : due.has("preparation") ? "required" : "auto"}`
  ]
}

const works = 50

law(
  "what is due at a safe point is done in one order, in each order in which it came [L1212 P1501]",
  fc.record({
    due: fc.subarray([...steps]),
    isSetFirst: fc.boolean(),
    at: fc.record({
      result: fc.constantFrom(1, 10, 20, 30, works),
      first: fc.constantFrom(1, 10, 20, works),
      second: fc.constantFrom(20, 30, works)
    })
  }),
  ({ at, due: drawn, isSetFirst }) =>
    ofRuns(
      () =>
        Effect.gen(function* () {
          const due = new Set(drawn)
          const parcel = deferring({ name: "parcel", deadline: "1 day", wait: "continue", atEnd: "detach" })
          const making = <const Name extends string>(name: Name, ends: Effect.Effect<string, Error>) =>
            Tool.make(name, {
              description: "d",
              parameters: Schema.Struct({ n: Schema.optionalKey(Schema.Finite) }),
              success: Schema.String,
              run: () => Effect.delay(ends, works)
            })
          const last = due.has("hard failure") ? Effect.fail(busy()) : Effect.succeed("seen")
          const other = making("other", due.has("tools off") ? Effect.fail(busy()) : Effect.succeed("seen"))
          const off = Recovery.tell(() => "off", { then: "tools-off" })
          const plain = Agent.make("worker", {
            tools: [making("last", last), other.pipe(Tool.onError({ orElse: off })), parcel.tool],
            budget: { maxTurns: due.has("limit") ? 1 : 8 }
          }).pipe(
            Agent.prepareTurn(({ turn }) =>
              Effect.succeed(turn === 2 && due.has("preparation") ? { toolChoice: "required" } : {})
            ),
            Agent.guardInput(({ text }) => (due.has("guard") && text !== "go" ? block : Agent.guard.pass), {
              mode: "before"
            })
          )
          const agent = due.has("compaction") ? plain.pipe(Agent.compactAt({ window: 1, with: briefly })) : plain
          const model = yield* lasting(batch("parcel", "last", "other"), done, done, done)
          const playing: { run?: Agent.Run<unknown, unknown> } = {}
          const observer = (event: AgentEvent.AgentEvent) => {
            if (event.type === "turn-end" && due.has("interruption"))
              Effect.runFork(playing.run?.interrupt ?? Effect.void)
          }
          const coming = (step: "result" | "first" | "second") => {
            const comes = Effect.suspend((): Effect.Effect<unknown, unknown> =>
              step === "result"
                ? Tool.settle(parcel.tokenOf(), Exit.succeed({ at: 1 }))
                : (playing.run?.say(step) ?? Effect.void)
            )
            return due.has(step)
              ? Effect.forkChild(Effect.delay(Effect.ignore(comes), at[step]), { startImmediately: true })
              : Effect.void
          }
          const all = Effect.all([coming("result"), coming("first"), coming("second")])
          if (isSetFirst) yield* all
          const run = yield* started(agent.start("go"), model).pipe(
            Effect.provideService(RunContext.Observers, [() => observer])
          )
          playing.run = run
          yield* calm
          if (!isSetFirst) yield* all
          yield* TestClock.adjust("1 hour")
          yield* Effect.exit(run.outcome)
          const events = yield* eventsOf(run)
          const from = events.findIndex(({ type }) => type === "turn-end")
          const until = events.findIndex(
            ({ type }, index) => index > from && (type === "model-start" || type.startsWith("run-"))
          )
          const did = events.slice(from + 1, until + 1).flatMap((event): string | ReadonlyArray<string> => {
            if (event.type === "tool-result") return "result"
            if (event.type === "message-read") return Message.textOf(event.message)
            if (event.type === "compacted") return "compaction"
            if (event.type === "turn-prepared") return event.toolChoice === undefined ? [] : "preparation"
            if (event.type === "model-start")
              return `asked with ${JSON.stringify(model.requests[1]?.toolChoice).replaceAll('"', "")}`
            if (event.type === "run-failed") return `run-failed ${ErrorCause.tagOf(event.error)}`
            return event.type === "run-interrupted" ? event.type : []
          })
          // what comes at the very instant of the safe point may be late for it
          const late = (["result", "first", "second"] as const).filter((one) => due.has(one) && at[one] === works)
          const possible = subsets(late).map((missed) => doneAt(new Set(drawn.filter((one) => !missed.has(one)))))
          assert.deepInclude(possible, did)
        }),
      runners.whole
    )(undefined)
)

const block = Agent.guard.block("no")

const subsets = (all: ReadonlyArray<Step>): ReadonlyArray<ReadonlySet<Step>> =>
  Array.from({ length: 2 ** all.length }, (_, bits) => new Set(all.filter((_, nth) => (bits >> nth) % 2 === 1)))
