/** The second sweep: routing, agents as tools, times of calls, limits that are decided about, runs that wait and go on. */
import { AgentEvent, type Message, RunError, ToolError, Usage } from "@kintsugi/core"
import { Cause, Exit } from "effect"
import { assert, beforeAll, it } from "vitest"
import { playBranches } from "./_support/branches.ts"
import * as Invariants from "./_support/invariants.ts"
import type { Fault, Injection, Step } from "./_support/steps.ts"
import type { Played } from "./_support/story.ts"
import { distinct, faultOf, violations } from "./_support/sweep.ts"

const all: Array<Played> = []

/** Each is one below what the reply of the step brings it to, or what its calls do; nothing is planted. */
const limitsOf = ({ sent, steps }: Played): ReadonlyArray<Injection> => {
  const answers = steps.filter(({ kind }) => kind === "call")
  let cost = 0
  const reached = (step: Step | undefined, fault: Fault, limit: number): ReadonlyArray<Injection> =>
    step === undefined ? [] : [{ index: -1, step, fault, limit }]
  const costs = sent.flatMap(({ inputTokens }, index) => {
    cost += inputTokens
    return reached(answers[index], "maxCost", cost - 0.5)
  })
  // the first three calls are of one tool
  const attempts = steps.filter(({ kind, label }) => kind === "attempt" && label.startsWith("look"))
  const rows = [1, 2].flatMap((limit) => reached(attempts[limit], "maxConsecutiveSameTool", limit))
  const turns = answers.flatMap((step, index) => (index === 0 ? [] : reached(step, "maxTurns", index)))
  return [...costs, ...rows, ...turns]
}

beforeAll(async () => {
  for (const mode of ["whole", "streamed", "resumed"] as const) {
    const clean = await playBranches(mode)
    if (!Exit.isSuccess(clean.exit)) throw new Error(`the clean run fails: ${String(clean.exit.cause)}`)
    all.push(clean)
    const injections = [
      ...clean.steps.flatMap((step, index) =>
        step.faults
          .filter((fault) => fault !== "interrupt after" || step.hasEnded)
          // between two runs no run waits for a person: the test would wait
          .filter((fault) => fault !== "never" || mode !== "resumed" || step.layer !== "approver")
          .map((fault) => faultOf(step, index, fault))
      ),
      ...limitsOf(clean)
    ]
    for (let i = 0; i < injections.length; i += 32) {
      all.push(...(await Promise.all(injections.slice(i, i + 32).map((one) => playBranches(mode, one)))))
    }
  }
}, 60_000)

const law = (title: string, holds: (played: Played) => void, isAbout: (played: Played) => boolean = () => true): void =>
  it(title, () => {
    const about = all.filter(isAbout)
    const found = violations(about, holds)
    assert.isAbove(about.length, 0)
    assert.strictEqual(found.length, 0, `${found.length} of ${about.length}:\n\n${found.slice(0, 3).join("\n\n")}\n`)
  })

const by =
  (...faults: ReadonlyArray<Fault>) =>
  ({ injection }: Played) =>
    injection !== undefined && faults.includes(injection.fault)

/** A run that was suspended goes on under its id: from each beginning to the next. */
const sessionsOf = ({ events }: Played): ReadonlyArray<ReadonlyArray<AgentEvent.AgentEvent>> => {
  const sessions: Array<Array<AgentEvent.AgentEvent>> = []
  const present = new Map<string, Array<AgentEvent.AgentEvent>>()
  for (const event of events) {
    if (event.type === "run-start") {
      const session: Array<AgentEvent.AgentEvent> = []
      present.set(event.runId, session)
      sessions.push(session)
    }
    const session = present.get(event.runId)
    if (session === undefined) throw new Error(`${event.type} of a run that has not begun`)
    session.push(event)
  }
  return sessions
}

const endOf = ({ events }: Played) =>
  events.findLast((event) => event.parent === undefined && AgentEvent.isTerminal(event))

const isClosing = (event: AgentEvent.AgentEvent) =>
  event.type === "model-end" || event.type === "model-failed" || event.type === "model-interrupted"

const contentsOf = (transcript: Message.Transcript) =>
  transcript.flatMap((message) =>
    message.role === "assistant" && message.incomplete !== true
      ? [message.content.map((part) => (part.type === "settled-call" ? part.call : part))]
      : []
  )

const settlementsOf = (transcript: Message.Transcript) =>
  transcript.flatMap((message) =>
    message.role === "assistant" ? message.content.filter((part) => part.type === "settled-call") : []
  )

it("sweeps routing, sub-agents, approvals and decisions about limits, whole, streamed and resumed", () => {
  const counts = distinct(all)
  const sum = [...counts.values()].reduce((sum, count) => sum + count, 0)
  console.log(`second sweep: ${sum} injections (${[...counts].map(([layer, n]) => `${layer} ${n}`).join(", ")})`)
  assert.isAtLeast(sum, 500)
  assert.sameMembers([...counts.keys()], ["router", "model", "expert", "tool", "listener", "limits", "approver"])
  const clean = all.filter(({ injection }) => injection === undefined)
  assert.deepStrictEqual(
    clean.map(({ events }) => events.filter(({ type }) => type === "run-suspended").length),
    // the expert is suspended with the worker once
    [0, 0, 4]
  )
})

law("every run and every part of a run ends with one terminal event, which every listener gets [A1202]", (played) => {
  for (const session of sessionsOf(played)) {
    assert.strictEqual(session.filter(AgentEvent.isTerminal).length, 1)
    assert.isTrue(AgentEvent.isTerminal(session.at(-1)!))
  }
  assert.strictEqual(played.events.at(-1), endOf(played))
  assert.deepStrictEqual(played.heard, played.events)
})

law("every model-start is closed and booked once, and all replies are paid for [P703 L1009]", (played) => {
  for (const session of sessionsOf(played)) {
    const asked = session.filter(({ type }) => type === "model-start")
    const closed = session.filter(isClosing)
    const idOf = (event: AgentEvent.AgentEvent) => [event.turn, "attempt" in event ? event.attempt : 0]
    assert.deepStrictEqual(closed.map(idOf), asked.map(idOf))
  }
  const end = endOf(played)
  assert(end !== undefined && "ledger" in end)
  assert.deepStrictEqual(
    end.ledger,
    played.events.flatMap((event) => (isClosing(event) && "entry" in event ? [event.entry] : []))
  )
  assert.deepStrictEqual(end.usage, played.sent.reduce(Usage.add, Usage.empty))
})

law(
  "no call is an orphan: each reply is one message with all of its calls settled, in order [P401 L1001]",
  (played) => {
    const replies = played.events.flatMap((event) =>
      event.type === "model-end" && event.agent === "worker" && event.entry.purpose === "agent"
        ? [event.reply.content]
        : []
    )
    const end = endOf(played)
    if (end?.type === "run-failed" || end?.type === "run-interrupted") {
      assert.deepStrictEqual(contentsOf(end.transcript), replies)
    } else if (end?.type === "run-completed") {
      assert.deepStrictEqual(contentsOf(played.requests.at(-1)?.messages ?? []), replies.slice(0, -1))
    } else {
      assert(end?.type === "run-suspended")
      const { unfinished, transcript } = end.snapshot
      const waiting = unfinished === undefined ? [] : [unfinished.reply.content]
      assert.deepStrictEqual([...contentsOf(transcript), ...waiting], replies)
    }
  }
)

law("no payment is made twice, and a payment without an end is settled as unknown [P602 L903]", (played) => {
  const { starts } = played
  assert.strictEqual(new Set(starts.map(({ key }) => key)).size, starts.length)
  const end = endOf(played)
  const found = end?.type === "run-failed" || end?.type === "run-interrupted" ? settlementsOf(end.transcript) : []
  for (const { callId, end: how } of starts.filter((start) => start.end !== "failure")) {
    const kind = found.find(({ call }) => call.id === callId)?.settlement.kind
    if (kind !== undefined) assert.include(how === "success" ? ["result", "unknown"] : ["unknown"], kind)
  }
  // only what was approved is paid
  const approved = played.steps.filter(({ layer }) => layer === "approver").map(({ label }) => label)
  for (const { callId } of starts) assert.include(approved, callId)
})

law("nothing is left, and nothing happens later [L401]", Invariants.over)

law(
  "a reply in the background is begun once for each reply, and answered, or cancelled once [P1406]",
  ({ injection, jobs = [], steps }) => {
    const begun = steps.filter(({ kind }) => kind === "begin")
    const isFailed = injection?.step.kind === "begin" && injection.fault !== "interrupt after"
    assert.isAtMost(jobs.length, begun.length)
    assert.isAtLeast(jobs.length, begun.length - (isFailed ? 1 : 0))
    for (const { cancels, isAnswered } of jobs) {
      assert.isAtMost(cancels, 1)
      assert.isTrue(isAnswered || cancels === 1)
    }
    // the clean run begins one for each reply of the expert, and cancels none
    if (injection === undefined)
      assert.deepStrictEqual(
        jobs,
        Array.from({ length: 2 }, () => ({ isAnswered: true, cancels: 0 }))
      )
  }
)

law(
  "a reply in the background that is stopped, or whose run gives up, is cancelled [P1406]",
  ({ jobs = [] }) => assert.isTrue(jobs.some(({ cancels }) => cancels === 1)),
  ({ injection }) =>
    (injection?.step.kind === "begin" && injection.fault === "interrupt after") ||
    (injection?.step.layer === "expert" && injection.step.kind === "call" && injection.fault === "failure")
)

law(
  "an interruption ends the run, or finds it suspended [A111 L402]",
  (played) => {
    const { before, exit, injection, steps } = played
    assert(before !== undefined && injection !== undefined)
    const { fault, step } = injection
    if (step.layer === "listener" && fault === "quit") return assert.isTrue(Exit.isSuccess(exit))
    const wasOver = played.events
      .slice(0, before.events)
      .some(({ parent, type }) => parent === undefined && type === "run-completed")
    if (wasOver) return assert.strictEqual(endOf(played)?.type, "run-completed")
    assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
    const isBetween = played.mode === "resumed" && (step.layer === "approver" || step.layer === "listener")
    assert.include(
      isBetween ? ["run-suspended", "run-interrupted"] : ["run-interrupted"],
      endOf(played)?.type ?? "nothing"
    )
    assert.isTrue(steps.every(({ at, layer }) => layer === "listener" || at <= before.at))
  },
  by("interrupt", "interrupt after", "interrupt within", "quit")
)

law(
  "a defect ends the run, of the approver too; a listener's does not [A110 A112]",
  (played) => {
    const { exit, injection, mode } = played
    if (injection?.step.layer === "listener") return assert.isTrue(Exit.isSuccess(exit))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    const end = endOf(played)
    if (mode === "resumed" && injection?.step.layer === "approver") assert.strictEqual(end?.type, "run-suspended")
    else assert(end?.type === "run-failed" && end.isDefect)
  },
  by("defect")
)

law(
  "limits that are not extended end the run as their own error [A901 A903-A905]",
  (played) => {
    const error = Exit.isFailure(played.exit) ? Cause.squash(played.exit.cause) : undefined
    assert.instanceOf(error, RunError.BudgetExceededError)
    assert.strictEqual((error as RunError.BudgetExceededError).reason, played.injection?.fault)
    const end = endOf(played)
    assert(end?.type === "run-failed" && end.error === error)
  },
  (played) =>
    by("maxCost", "maxConsecutiveSameTool", "maxTurns")(played) ||
    // time that passes between two runs counts for neither
    (by("maxDuration")(played) && !(played.mode === "resumed" && played.injection?.step.layer === "approver"))
)

law(
  "a call that never ends is stopped at its own time, and the run with it [A906]",
  (played) => {
    const error = Exit.isFailure(played.exit) ? Cause.squash(played.exit.cause) : undefined
    assert.instanceOf(error, ToolError.ToolExecutionError)
    const { cause, tool } = error as ToolError.ToolExecutionError
    // what became of a payment is unknown
    if (tool === "pay") assert.instanceOf(cause, ToolError.OutcomeUnknownError)
    else assert.instanceOf(cause, ToolError.ToolTimeoutError)
    assert.strictEqual(endOf(played)?.at, (played.before?.at ?? 0) + 10_000)
  },
  (played) =>
    by("never")(played) && played.injection?.step.layer === "tool" && !played.injection.step.label.startsWith("check")
)
