/** The safe point: the place between two turns at which every call of the last reply has a settlement. */
import { assert, it } from "@effect/vitest"
import { Agent, type AgentEvent, Approval, Compaction, Message, Recovery, Snapshot, Tool } from "@kintsugi/core"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { deferring } from "../tool/_support/deferring.ts"
import { batch, busy, done, scripted, settlements as kindsOf } from "../../_support/dialogue.ts"
import { snapshotOf } from "../../_support/suspension.ts"
import { eventsOf, started } from "./_support/saying.ts"

const { make } = ScriptedModel

/**
 * What is done at a safe point, in this order, with its number in P1501. Where two of these are due,
 * the run does the one that comes first, and no other if that ends the run.
 */
const order = [
  { number: 1, step: "an interruption is honoured", does: "interrupted", isLast: true },
  { number: 2, step: "a hard failure ends the run", does: "failed: Busy", isLast: true },
  { number: 3, step: "what has expired is settled", does: "expired" },
  { number: 4, step: "the result of a deferred call is read", does: "result: parcel" },
  { number: 5, step: "what was said is read, in its order", does: "read: first, second" },
  { number: 6, step: "a limit ends the run", does: "failed: BudgetExceededError", isLast: true },
  { number: 7, step: "a guardrail blocks what was said", does: "failed: GuardrailError", isLast: true },
  { number: 8, step: "the conversation is shortened", does: "shortened" },
  { number: 9, step: "the turn is prepared", does: "prepared" },
  { number: 10, step: "tools are switched off", does: "asked with none", isLast: true },
  { number: 11, step: "the model is asked", does: "asked with auto", prepared: "asked with required", isLast: true }
] as const

type StepNumber = (typeof order)[number]["number"]

/** The limits that a run checks at a safe point. */
const limits = {
  maxTurns: { maxTurns: 1 },
  maxToolCalls: { maxToolCalls: 2 },
  maxConsecutiveSameTool: { maxConsecutiveSameTool: 1 },
  repeatedFailure: { repeatedFailures: { stop: 1 } }
} as const

/** What a call has expired to, and what it would be if the message had withdrawn it. */
const undecided = /^denied: .*in time/
const late = /^told: late/

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

/** What a run does at the safe point after its first reply, in order, if these steps are due there. */
const doneAt = (due: (number: StepNumber) => boolean, limit: keyof typeof limits = "maxTurns") =>
  Effect.gen(function* () {
    const verdict = due(10) ? Recovery.tell(() => "off", { then: "tools-off" }) : Recovery.tell()
    const failing = scripted("told", ...Array.from({ length: 3 }, () => Effect.fail(busy())))
    const last = scripted("last", due(2) ? Effect.fail(busy()) : Effect.succeed("seen"))
    const paid = scripted("pay", Effect.succeed("paid"))
    const { tool: ordered } = deferring({ deadline: "1 hour" })
    const parcel = deferring({ name: "parcel", deadline: "1 day", wait: "continue" })
    const plain = Agent.make("worker", {
      tools: [
        failing.tool.pipe(Tool.onError({ Busy: verdict })),
        // decided about: it runs where the run goes on
        last.tool.pipe(Tool.requireApproval({ validFor: "1 day" })),
        paid.tool.pipe(Tool.requireApproval({ validFor: "1 hour", onExpiry: "refuse" })),
        ordered.pipe(Tool.onError({ orElse: Recovery.tell(() => "late") })),
        parcel.tool
      ],
      budget: { maxDuration: "2 days", ...(due(6) ? limits[limit] : {}) }
    }).pipe(
      Agent.prepareTurn(({ turn }) =>
        Effect.succeed(turn === 2 && due(9) ? { prompt: "Prepared.", toolChoice: "required" } : {})
      )
    )
    const agent = due(8) ? plain.pipe(Agent.compactAt({ window: 1, with: briefly })) : plain
    // it has not passed the input of the run before
    const decided = due(7) ? Agent.guard.block("no") : Agent.guard.pass
    const guarded = agent.pipe(Agent.guardInput(() => decided, { mode: "before" }))
    const expiring = due(3) ? ["pay", "order"] : []
    const sent = due(4) ? ["parcel"] : []
    const asked = !due(2) && !due(1) && !due(6) && !due(7)
    const model = yield* make(batch("last", ...expiring, ...sent, "told", "told"), ...(asked ? [done] : []))
    const first = yield* started(agent.start("go"), model)
    const from = yield* snapshotOf(yield* Effect.orDie(first.outcome))
    yield* TestClock.adjust("2 hours")
    const decisions = Snapshot.requestsOf(from).flatMap(({ digest, tool }) =>
      tool === "last" ? { digest, decision: Approval.approve } : []
    )
    const say = due(5) ? [{ message: "first", supersede: true }, { message: "second" }] : []
    const settlements = due(4) ? [{ token: parcel.tokenOf(), exit: Exit.succeed({ at: 1 }) }] : []
    let stop: Effect.Effect<unknown> = Effect.void
    const observer = (event: AgentEvent.AgentEvent) => {
      if (event.type === "turn-end" && due(1)) Effect.runFork(stop)
    }
    const run: Agent.Run<unknown, unknown> = yield* started(
      Agent.resume(guarded).start({ from, decisions, say, settlements }),
      model
    ).pipe(Effect.provideService(RunContext.Observers, [() => observer]))
    stop = run.interrupt
    yield* Fiber.await(yield* Effect.forkChild(run.outcome))
    const events = yield* eventsOf(run)
    const end = events.findIndex(({ type }) => type === "turn-end")
    assert.lengthOf(kindsOf(yield* run.transcript), 3 + expiring.length + sent.length)
    const [, pay = "", order = ""] = kindsOf(yield* run.transcript)
    const read = events.flatMap((event) => {
      if (event.type === "tool-result") return `result: ${event.tool}`
      return event.type === "message-read" ? Message.textOf(event.message) : []
    })
    const said = read.filter((one) => !one.startsWith("result"))
    const types = events.map(({ type }) => type)
    const isShortened = types.indexOf("compacted") > types.lastIndexOf("message-read")
    const terminal = events.at(-1)
    const did = [
      ...(undecided.test(pay) && late.test(order) ? ["expired"] : []),
      ...(read[0]?.startsWith("result") === true ? [read[0]] : []),
      ...(said.length === 0 ? [] : [`read: ${said.join(", ")}`]),
      ...(isShortened ? ["shortened"] : []),
      ...(events.some((event) => event.type === "turn-prepared" && event.prompt !== undefined) ? ["prepared"] : []),
      ...(model.requests[1] === undefined ? [] : [`asked with ${model.requests[1].toolChoice}`]),
      ...(terminal?.type === "run-failed" ? [`failed: ${ErrorCause.tagOf(terminal.error)}`] : []),
      ...(terminal?.type === "run-interrupted" ? ["interrupted"] : [])
    ]
    return { did, after: events.slice(end).map(({ type }) => type) }
  })

/** What of these steps a run does: all up to the first that ends the safe point. */
const expected = (due: ReadonlyArray<(typeof order)[number]>): ReadonlyArray<string> => {
  const last = due.findIndex((one) => "isLast" in one)
  const isPrepared = due.some(({ number }) => number === 9)
  return due.slice(0, last + 1).map((one) => (isPrepared && "prepared" in one ? one.prepared : one.does))
}

it.effect("what is done between two turns is done in one order, when every call is settled [P1501]", () =>
  Effect.gen(function* () {
    for (const [index, { step }] of order.entries()) {
      const due = order.slice(index)
      const found = yield* doneAt((number) => due.some((one) => one.number === number))
      assert.deepStrictEqual(found.did, expected(due), step)
    }
  })
)

it.effect("of two neighbours that are due at one instant, the earlier acts first [P1501]", () =>
  Effect.gen(function* () {
    for (const [index, earlier] of order.entries()) {
      const later = order[index + 1]
      if (later === undefined) continue
      for (const limit of ["maxTurns", "maxToolCalls", "maxConsecutiveSameTool", "repeatedFailure"] as const) {
        if (limit !== "maxTurns" && earlier.number !== 6 && later.number !== 6) continue
        const due = [earlier, later, ...order.slice(-1)].filter((one, at, all) => all.indexOf(one) === at)
        const found = yield* doneAt((number) => due.some((one) => one.number === number), limit)
        const wanted = expected(due)
        assert.deepStrictEqual(found.did, wanted, `${earlier.step}, ${later.step}, ${limit}`)
        // a step that ends the run comes before the next turn begins for listeners
        const isAsked = wanted.some((one) => one.startsWith("asked"))
        assert.strictEqual(found.after.includes("turn-start"), isAsked, earlier.step)
      }
    }
  })
)
