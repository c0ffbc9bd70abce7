/** A call that is ended from outside: how it is settled, by what has begun, and by what its tool declares. */
import { assert, it } from "@effect/vitest"
import { Agent, AgentEvent, Approval, Budget, type Message, type Model, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Deferred, Effect, Exit, Fiber, Option, Schema, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { busy, calm, done, eventLog, gone } from "../../_support/dialogue.ts"
import { runners } from "../../_support/run.ts"
import { snapshotOf } from "../../_support/suspension.ts"

const { answering, call, calls } = ScriptedModel

/** What ends the calls of the reply. */
type Way = "supersede" | "a message" | "a message to tools" | "hard failure" | "interrupt" | "maxDuration" | "answer"

/** Where the call is then. `in the snapshot`: its run goes on, and its turn has not come. */
type State = "not begun" | "unapproved" | "running" | "before a retry" | "in ask" | "deferred"

/** How the run came here, and whether it waits for persons itself. */
type Mode = "whole" | "streamed" | "started" | "resumed" | "resumed, not its turn"

type Safety = "none" | "idempotent" | "unsafe"

const parameters = Schema.Struct({})
const success = Schema.String

/** The call that is ended. */
const subjectIn = (state: State, sideEffects: Safety, verify?: Effect.Effect<Option.Option<string>, string>) => {
  const begun: Array<string> = []
  const looked = verify === undefined ? {} : { verify: () => verify }
  const options = { description: "Acts.", parameters, success, sideEffects, ...looked }
  const start = Effect.sync(() => void begun.push(state))
  const run = () => Effect.andThen(start, state === "running" ? Effect.never : Effect.fail(busy()))
  const retry = Recovery.retry({ retries: 3, initialBackoff: "1 minute", acknowledge: "may run twice" })
  const tool =
    state === "deferred"
      ? Tool.deferred("act", { ...options, start: () => Effect.as(start, 1), wait: "suspend", deadline: "1 hour" })
      : Tool.make("act", { ...options, run }).pipe(
          Tool.onError({ orElse: state === "before a retry" ? retry : Recovery.ask() } as object)
        )
  const one = tool as unknown as Tool.AnyTool
  return { begun, tool: state === "unapproved" ? one.pipe(Tool.requireApproval()) : one }
}

/** The call beside it, which is at work meanwhile. */
const besideIn = (mode: Mode, way: Way) => {
  const begun = Deferred.makeUnsafe<void>()
  const goOn = Deferred.makeUnsafe<void>()
  const tool = Tool.make("beside", {
    description: "Is at work.",
    parameters,
    success,
    sideEffects: "none",
    run: () =>
      Deferred.succeed(begun, undefined).pipe(
        Effect.andThen(Deferred.await(goOn)),
        Effect.andThen(way === "hard failure" ? Effect.fail(gone()) : Effect.succeed("beside"))
      )
  })
  const gated = mode.startsWith("resumed") ? tool.pipe(Tool.requireApproval()) : tool
  return {
    tool: gated as unknown as Tool.AnyTool,
    begun: Deferred.await(begun),
    end: Deferred.succeed(goOn, undefined)
  }
}

type Started = Effect.Effect<Agent.Run<unknown, unknown>, never, Model.Model | Scope.Scope>

/** A run at work, as far as these tests end it. */
interface AtWork {
  readonly say: (options: Parameters<Agent.Run<unknown, unknown>["say"]>[1]) => Effect.Effect<unknown, unknown>
  readonly interrupt: Effect.Effect<unknown>
  readonly outcome: Effect.Effect<unknown, unknown>
}

/** The settlement of the call, and how often its tool has begun. */
const played = (
  mode: Mode,
  way: Way,
  state: State,
  safety: Safety,
  verify?: Effect.Effect<Option.Option<string>, string>
) =>
  Effect.gen(function* () {
    const subject = subjectIn(state, safety, verify)
    const beside = besideIn(mode, way)
    const isBehind = state === "not begun" || mode === "resumed, not its turn"
    const limits = way === "answer" ? { maxToolCalls: isBehind ? 1 : 2 } : {}
    const budget = { maxDuration: "2 minutes", ...limits, ...(isBehind ? { toolConcurrency: 1 } : {}) } as const
    const log = eventLog()
    const agent = Agent.make("worker", { tools: [subject.tool, beside.tool], budget }).pipe(
      Agent.onBudgetExceeded(() => (way === "answer" ? Budget.answer : Budget.stop)),
      log.listen
    )
    const calling = isBehind ? ["beside", "act"] : ["act", "beside"]
    const order = way === "answer" ? [...calling, "beside"] : calling
    const model = answering(({ messages }) =>
      messages.length === 1 ? calls(...order.map((name) => call(name, {}))) : done
    )
    // what the tools need is given
    const on = <A, E>(self: Effect.Effect<A, E, unknown>) =>
      Effect.provideService(self, Approval.Approver, { decide: () => Effect.never }).pipe(
        Effect.provide(model)
      ) as Effect.Effect<A, E, Scope.Scope>
    const starting = (start: unknown): Effect.Effect<AtWork, never, Scope.Scope> =>
      Effect.map(on(start as Started), ({ interrupt, outcome, say }) => ({
        say: (options) => say("never mind", options),
        interrupt,
        outcome
      }))
    const inMemory = Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(on(runners[mode === "whole" ? "whole" : "streamed"](agent, "go")))
      return { say: () => Effect.void, interrupt: Fiber.interrupt(fiber), outcome: Fiber.join(fiber) }
    })
    let run: AtWork = yield* mode === "whole" || mode === "streamed" ? inMemory : starting(agent.start("go"))
    if (mode.startsWith("resumed")) {
      const from = yield* snapshotOf((yield* Effect.orDie(run.outcome)) as Agent.Outcome<unknown>)
      const beside = Snapshot.requestsOf(from).filter(({ tool }) => tool === "beside")
      const decisions = beside.map(({ digest }) => ({ digest, decision: Approval.approve }))
      run = yield* starting(Agent.resume(agent).start({ from, decisions }))
    }
    yield* beside.begun
    yield* calm
    const said = messages[way]
    if (said !== undefined) yield* Effect.orDie(run.say(said))
    if (way === "interrupt") yield* run.interrupt
    if (way === "maxDuration") yield* TestClock.adjust("3 minutes")
    yield* beside.end
    const goesOn = said !== undefined || way === "answer"
    assert.strictEqual(Exit.isSuccess(yield* Effect.exit(run.outcome)), goesOn)
    const ends = log.all.filter(({ type }) => type === "tool-end" || type === "tool-skipped")
    const endsOf = (name: string) => ends.filter((event) => "tool" in event && event.tool === name).length
    // where the run goes on, each call has one end
    if (goesOn) assert.deepStrictEqual([endsOf("act"), endsOf("beside")], [1, way === "answer" ? 2 : 1])
    const found = AgentEvent.transcriptOf(log.all).flatMap((message) =>
      message.role === "assistant" ? message.content.filter((part) => part.type === "settled-call") : []
    )
    const acting = found.find((one) => one.call.name === "act") ?? assert.fail("no call")
    return { ...acting.settlement, begun: subject.begun.length }
  })

const messages: Partial<Record<Way, Parameters<Agent.Run<unknown, unknown>["say"]>[1]>> = {
  supersede: { supersede: true },
  "a message": { interrupt: true },
  "a message to tools": { interrupt: "tools" }
}

const modes: ReadonlyArray<Mode> = ["whole", "streamed", "started", "resumed", "resumed, not its turn"]
const ways: ReadonlyArray<Way> = [
  "supersede",
  "a message",
  "a message to tools",
  "hard failure",
  "interrupt",
  "maxDuration",
  "answer"
]
const states: ReadonlyArray<State> = ["not begun", "unapproved", "running", "before a retry", "in ask", "deferred"]
const safeties: ReadonlyArray<Safety> = ["none", "idempotent", "unsafe"]

const waits: ReadonlySet<State> = new Set(["unapproved", "in ask", "deferred"])

/** Whether there is such a run: a snapshot has no call at work, and only a started run hears messages. */
const isPossible = (mode: Mode, way: Way, state: State): boolean => {
  if (mode.startsWith("resumed") && !waits.has(state)) return false
  const isHeard = mode !== "whole" && mode !== "streamed"
  if (way === "supersede") return isHeard && waits.has(state)
  // a request stays open; what is at work ends by itself
  if (way === "a message" || way === "a message to tools") {
    return isHeard && !waits.has(state) && !(way === "a message" && state === "running")
  }
  if (way === "answer") return !mode.startsWith("resumed") && (state === "not begun" || waits.has(state))
  return !(way === "hard failure" && state === "running")
}

/** What the guide tells of such a call. */
const expected = (way: Way, state: State, safety: Safety): Message.Settlement["kind"] => {
  if (state === "not begun" || state === "unapproved") return "interrupted"
  if (safety === "unsafe") return "unknown"
  // its table gets no further attempt, and tells the failure
  return way === "hard failure" && state === "before a retry" ? "told" : "interrupted"
}

for (const way of ways)
  it.effect(
    `a call that is ended by ${way} is not run, unknown or interrupted, by what has begun [P602 P1350 P1512 P1525 P1583 P1584 P1594]`,
    () =>
      Effect.gen(function* () {
        for (const mode of modes)
          for (const state of states)
            for (const safety of safeties) {
              if (!isPossible(mode, way, state)) continue
              const where = `${mode}, ${state}, ${safety}`
              const { begun, kind, text } = yield* Effect.scoped(played(mode, way, state, safety))
              assert.strictEqual(kind, expected(way, state, safety), where)
              const hasBegun = state !== "not begun" && state !== "unapproved"
              assert.strictEqual(begun > 0, hasBegun, where)
              if (hasBegun) assert.notInclude(text, "not run", where)
              else if (way !== "maxDuration" && way !== "hard failure") assert.include(text, "not run", where)
              assert.strictEqual(text.includes("may have taken effect"), kind === "unknown", where)
            }
      })
  )

it.effect("what was looked up counts: a call without effect is not unknown [P603 P1512 P1584]", () =>
  Effect.gen(function* () {
    for (const mode of modes)
      for (const way of ways) {
        if (!isPossible(mode, way, "in ask")) continue
        const none = yield* Effect.scoped(played(mode, way, "in ask", "unsafe", Effect.succeed(Option.none())))
        assert.strictEqual(none.kind, "interrupted", `${mode}, ${way}`)
        const broken = yield* Effect.scoped(played(mode, way, "in ask", "unsafe", Effect.fail("no answer")))
        assert.strictEqual(broken.kind, "unknown", `${mode}, ${way}`)
      }
  })
)

it.effect("a call that waits in a snapshot still waits in the next one, if its turn has not come [P1523 P1528]", () =>
  Effect.gen(function* () {
    for (const state of ["unapproved", "in ask", "deferred"] as const) {
      const subject = subjectIn(state, "unsafe")
      const beside = besideIn("resumed", "supersede")
      const budget = { maxDuration: "2 minutes", toolConcurrency: 1 } as const
      const agent = Agent.make("worker", { tools: [beside.tool, subject.tool], budget }).pipe(
        Agent.onBudgetExceeded(() => Budget.checkpoint)
      )
      const model = answering(() => calls(call("beside", {}), call("act", {})))
      const on = (start: unknown) =>
        Effect.provide(start as Started, model) as Effect.Effect<Agent.Run<unknown, unknown>, never, Scope.Scope>
      const first = yield* on(agent.start("go"))
      const from = yield* snapshotOf(yield* Effect.orDie(first.outcome))
      const [asked] = Snapshot.requestsOf(from)
      const decisions = [{ digest: asked?.digest ?? "", decision: Approval.approve }]
      const second = yield* on(Agent.resume(agent).start({ from, decisions }))
      yield* beside.begun
      yield* TestClock.adjust("3 minutes")
      const later = yield* snapshotOf(yield* Effect.orDie(second.outcome))
      assert.deepStrictEqual(later.unfinished?.calls[1], from.unfinished?.calls[1], state)
    }
  })
)

it.effect(
  "an approved call whose turn has not come is skipped by a message; a deferred one still waits [P1523 P1583]",
  () =>
    Effect.gen(function* () {
      const ends: Array<string> = []
      for (const state of ["unapproved", "deferred"] as const) {
        const subject = subjectIn(state, "unsafe")
        const beside = besideIn("resumed", "a message")
        const agent = Agent.make("worker", { tools: [beside.tool, subject.tool], budget: { toolConcurrency: 1 } })
        const model = answering(({ messages }) =>
          messages.length === 1 ? calls(call("beside", {}), call("act", {})) : done
        )
        const on = (start: unknown) =>
          Effect.provide(start as Started, model) as Effect.Effect<Agent.Run<unknown, unknown>, never, Scope.Scope>
        const first = yield* on(agent.start("go"))
        const from = yield* snapshotOf(yield* Effect.orDie(first.outcome))
        const decisions = Snapshot.requestsOf(from).map(({ digest }) => ({ digest, decision: Approval.approve }))
        const second = yield* on(Agent.resume(agent).start({ from, decisions }))
        yield* beside.begun
        yield* second.say("never mind", { interrupt: true })
        yield* beside.end
        ends.push(((yield* Effect.orDie(second.outcome)) as Agent.Outcome<unknown>)._tag)
        assert.strictEqual(subject.begun.length, state === "deferred" ? 1 : 0)
      }
      assert.deepStrictEqual(ends, ["Completed", "Suspended"])
    })
)
