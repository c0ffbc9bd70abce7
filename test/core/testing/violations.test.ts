/** What each invariant says of recordings of a few events, sentence by sentence. */
import { assert, it } from "@effect/vitest"
import { type AgentEvent, Message, Usage } from "@kintsugi/core"
import { Invariants, ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Exit } from "effect"
import type { Recording } from "../../../packages/core/src/testing/recorder.ts"

const {
  "each start has an end": closed,
  "every run ends with one last event": ended,
  "interruption passes": passing,
  "no call without its settlement": oneSettlement,
  "no unsafe tool runs twice": safe,
  "the ledger is complete": booked
} = Invariants.all

/** An event with the parts that count here. */
const event = (type: AgentEvent.AgentEvent["type"], parts: object = {}) =>
  ({ type, runId: "r", agent: "worker", turn: 1, at: 0, ...parts }) as unknown as AgentEvent.AgentEvent

const start = event("run-start", { transcript: [] })
const done = event("run-completed", { at: 5 })
const ofChild = { runId: "s", agent: "helper", parent: { runId: "r" } }

const recordingOf = (parts: Partial<Recording>): Recording => ({
  events: [],
  seen: undefined,
  exit: Exit.succeed("done"),
  interrupted: undefined,
  sent: [],
  starts: [],
  left: { fibers: 0, steps: 0 },
  later: { events: 0, steps: 0 },
  ...parts
})

const call = ScriptedModel.call("pay", {}, "c1")
const interrupted: Message.Settlement = { kind: "interrupted", text: "" }
const result: Message.Settlement = { kind: "result", text: "paid" }

const asks = (turn: number, ...content: Message.Reply["content"]) =>
  event("model-end", { turn, reply: { content, finish: "stop", usage: Usage.empty } })

const says = (turn: number, message: Message.Assistant, parts: object = {}) =>
  event("turn-end", { turn, message, ...parts })

const answeredWith = (settlement: Message.Settlement, one = call) =>
  Message.settle({ content: [one], finish: "tool-calls", usage: Usage.empty }, [settlement])

type First = Recording["starts"][number]

const run: First = { tool: "pay", runId: "r", turn: 1, callId: "c1", key: "k", end: "success", lookedUp: undefined }

it("an unsafe tool may run again in one case alone: it was cut off, and a lookup found no effect [P602]", () => {
  const twice = (first: Partial<First>, second: Partial<First> = {}) =>
    safe(
      recordingOf({
        starts: [
          { ...run, ...first },
          { ...run, ...second }
        ]
      })
    )
  const rerun = (end: string) => [`'pay' is unsafe and runs again in call c1 (k), after a run that ended: ${end}`]
  assert.deepStrictEqual(twice({ end: "cut off", lookedUp: "took none" }), [])
  assert.deepStrictEqual(twice({ end: "cut off" }), rerun("cut off"))
  assert.deepStrictEqual(twice({ end: "cut off", lookedUp: "took effect" }), rerun("cut off"))
  assert.deepStrictEqual(twice({ end: "failure", lookedUp: "took none" }), rerun("failure"))
  assert.deepStrictEqual(twice({ end: "success" }), rerun("success"))
  // another key is another call, and another run has its own
  assert.deepStrictEqual(twice({}, { key: "other" }), [])
  assert.deepStrictEqual(twice({}, { runId: "s" }), [])
})

it("a call that may have taken effect is not settled as interrupted, any other may be [P602]", () => {
  const undone = says(1, answeredWith(interrupted))
  const of = (first: Partial<First>, events: ReadonlyArray<AgentEvent.AgentEvent> = [undone]) =>
    safe(recordingOf({ events, starts: [{ ...run, ...first }] }))
  const wrong = ["'pay' is unsafe and may have taken effect, but call c1 is settled as interrupted"]
  assert.deepStrictEqual(of({}), wrong)
  assert.deepStrictEqual(of({ end: "cut off" }), wrong)
  assert.deepStrictEqual(of({ end: "cut off", lookedUp: "took effect" }), wrong)
  assert.deepStrictEqual(of({ end: "failure", lookedUp: "took effect" }), wrong)
  assert.deepStrictEqual(of({ end: "cut off", lookedUp: "took none" }), [])
  assert.deepStrictEqual(of({ end: "failure" }), [])
  assert.deepStrictEqual(of({}, [says(1, answeredWith(result))]), [])
  assert.deepStrictEqual(of({}, []), [])
  // what settles another call says nothing of this one
  assert.deepStrictEqual(of({}, [says(1, answeredWith(interrupted), { runId: "s" })]), [])
  assert.deepStrictEqual(of({}, [says(2, answeredWith(interrupted))]), [])
  assert.deepStrictEqual(of({}, [says(1, answeredWith(interrupted, { ...call, id: "c2" }))]), [])
  assert.deepStrictEqual(of({}, [says(1, answeredWith(interrupted, { ...call, name: "look" }))]), [])
})

it("each run ends once, the outermost last, and a reader sees what was emitted [A1202 A1205]", () => {
  const of = (events: ReadonlyArray<AgentEvent.AgentEvent>, parts: Partial<Recording> = {}) =>
    ended(recordingOf({ events, ...parts }))
  const child = [event("run-start", { ...ofChild, transcript: [] }), event("run-completed", ofChild)]
  assert.deepStrictEqual(of([start, ...child, done]), [])
  assert.deepStrictEqual(of([start, done, ...child]), ["run-completed comes after the end of the outermost run"])
  assert.deepStrictEqual(of([start, ...child]), [
    "'worker' ends 0 times",
    "run-completed comes after the end of the outermost run"
  ])
  assert.deepStrictEqual(of([]), [])
  const events = [start, event("turn-start"), done]
  assert.deepStrictEqual(of(events, { seen: events }), [])
  const missing = ["a reader saw 2 events that are not those of the run"]
  assert.deepStrictEqual(of(events, { seen: events.slice(0, 2) }), missing)
  // a reader that is interrupted may have seen the first of them alone
  for (const exit of [Exit.interrupt(1), Exit.failCause(Cause.combine(Cause.fail("no"), Cause.interrupt(1)))]) {
    assert.deepStrictEqual(of(events, { seen: events.slice(0, 2), exit }), [])
    assert.deepStrictEqual(of(events, { seen: events.slice(1), exit }), missing)
  }
  assert.deepStrictEqual(of(events, { seen: events.slice(0, 2), exit: Exit.fail("no") }), missing)
  assert.deepStrictEqual(of(events, { seen: events.slice(0, 2), exit: undefined }), [])
})

it("an interrupted run ends as interrupted, at once, unless it was over before or at the same instant [A111]", () => {
  const of = (last: AgentEvent.AgentEvent, parts: Partial<Recording> = {}, events = [start, event("turn-start")]) =>
    passing(
      recordingOf({ events: [...events, last], interrupted: { at: 3, events: 1 }, exit: Exit.interrupt(1), ...parts })
    )
  const cut = event("run-interrupted", { at: 3 })
  assert.deepStrictEqual(of(cut), [])
  assert.deepStrictEqual(of(event("run-interrupted", { at: 5 })), [
    "run-interrupted comes 2 ms after the interruption of the run"
  ])
  const handled = "an interruption was handled: the run goes on"
  for (const exit of [Exit.succeed("done"), Exit.fail("no")]) assert.deepStrictEqual(of(cut, { exit }), [handled])
  const asCompleted = "a run that is interrupted ends as run-completed"
  const completed = event("run-completed", { at: 3 })
  assert.deepStrictEqual(of(completed), [asCompleted])
  // a streamed run may end by itself in the same instant, which interrupts its reader alone
  assert.deepStrictEqual(of(completed, { seen: [] }), [])
  assert.deepStrictEqual(of(event("run-completed", { at: 2 }), { seen: [] }), [asCompleted])
  assert.deepStrictEqual(of(event("turn-end", { at: 3 })), [])
  // the end of a sub-agent is not that of the run, and what was over before has nothing to end
  assert.deepStrictEqual(of(event("run-failed", { ...ofChild, at: 3 })), [])
  assert.deepStrictEqual(of(done, { interrupted: { at: 3, events: 3 } }), [])
  assert.deepStrictEqual(of(done, { interrupted: undefined, exit: Exit.succeed("done") }), [])
  assert.deepStrictEqual(of(done, { exit: undefined }), [])
})

it("what begins belongs to a run that has begun [A1203]", () => {
  const begun = { model: "m", provider: "p", attempt: 1 }
  assert.deepStrictEqual(closed(recordingOf({ events: [event("model-start", begun), done] })), [
    "model-start of 'worker' belongs to no run"
  ])
  assert.deepStrictEqual(closed(recordingOf({ events: [event("turn-start"), done] })), [])
})

it("the calls of a reply are in the message of its turn, and the messages in the transcript of the end [P401]", () => {
  const of = (...events: ReadonlyArray<AgentEvent.AgentEvent>) => oneSettlement(recordingOf({ events }))
  const toolEnd = event("tool-end", { callId: "c1", tool: "pay", use: { settlement: result } })
  const whole = [start, asks(1, call), toolEnd, says(1, answeredWith(result))]
  const failed = (transcript: Message.Transcript) => event("run-failed", { transcript })
  assert.deepStrictEqual(of(...whole, done), [])
  assert.deepStrictEqual(of(...whole, failed([Message.user("go"), answeredWith(result)])), [])
  const shown = JSON.stringify([answeredWith(result)])
  assert.deepStrictEqual(of(...whole, failed([Message.user("go")])), [
    `What the end of 'worker' has of the assistant is [], and should be ${shown}`
  ])
  assert.deepStrictEqual(of(...whole, event("run-interrupted", { transcript: [] })), [
    `What the end of 'worker' has of the assistant is [], and should be ${shown}`
  ])
  // what the run began with does not count, nor a run without a turn
  const before = Message.assistant("before")
  assert.deepStrictEqual(
    of(event("run-start", { transcript: [before] }), ...whole.slice(1), failed([before, answeredWith(result)])),
    []
  )
  assert.deepStrictEqual(of(start, failed([before])), [])
  // a turn without a message is one in which a skill was chosen: it has no calls
  const chosen = asks(1, Message.text("the first skill"))
  const later = [toolEnd, says(2, answeredWith(result))].map((one) => ({ ...one, turn: 2 }))
  assert.deepStrictEqual(of(start, chosen, asks(2, call), ...later, done), [])
  for (const reply of [asks(1, call), asks(1, Message.text("I pay."), call)]) {
    assert.deepStrictEqual(of(start, reply, asks(2, call), ...later, done), [
      "'worker' has asked for calls in turn 1 that no message has"
    ])
  }
})

it("a result and a refusal have an event of their own, what ends a call from outside has none [P401]", () => {
  const of = (settlement: Message.Settlement) =>
    oneSettlement(recordingOf({ events: [start, asks(1, call), says(1, answeredWith(settlement)), done] }))
  for (const kind of ["result", "denied"] as const) {
    assert.deepStrictEqual(of({ kind, text: "" }), [`c1 is settled as '${kind}', and no event says so`])
  }
  const settlement: Message.Settlement = { kind: "denied", text: "" }
  const refused = event("tool-denied", { callId: "c1", tool: "pay", settlement })
  const other = event("tool-denied", { callId: "c2", tool: "pay", settlement: { kind: "denied", text: "too many" } })
  const events = [start, asks(1, call), other, refused, says(1, answeredWith(settlement)), done]
  assert.deepStrictEqual(oneSettlement(recordingOf({ events })), [])
  for (const kind of ["interrupted", "truncated"] as const) assert.deepStrictEqual(of({ kind, text: "" }), [])
})

it("the ledger of a run has its attempts and those of its sub-agents, and no others [P703]", () => {
  const usage = (inputTokens: number) => Usage.make({ inputTokens })
  const attempt = (runId: string, inputTokens: number, parts: object = {}) => {
    const entry = { runId, agent: "a", model: "m", turn: 1, attempt: 1, usage: usage(inputTokens) }
    const begin = event("model-start", { model: "m", provider: "p", attempt: 1, runId, ...parts })
    return { entry, events: [begin, event("model-end", { runId, attempt: 1, reply: {}, entry, ...parts })] }
  }
  const own = attempt("r", 1)
  const inner = attempt("s", 2, ofChild)
  const foreign = attempt("o", 4, { agent: "other" })
  const ends = (parts: object, ...of: ReadonlyArray<typeof own>) => {
    const all = of.reduce((sum, { entry }) => Usage.add(sum, entry.usage), Usage.empty)
    return event("run-completed", { ...parts, ledger: of.map(({ entry }) => entry), usage: all })
  }
  const sound = [
    ...own.events,
    ...inner.events,
    ends(ofChild, inner),
    ends({}, own, inner),
    ...foreign.events,
    ends({ runId: "o", agent: "other" }, foreign)
  ]
  const sent = [usage(1), usage(2), usage(4)]
  assert.deepStrictEqual(booked(recordingOf({ events: sound, sent })), [])
  assert.lengthOf(booked(recordingOf({ events: sound, sent: sent.slice(1) })), 1)
  assert.match(
    booked(recordingOf({ events: sound.with(5, ends({}, own)), sent })).join(),
    /^What is booked for 'worker' is/
  )
  // a run that has not ended has no ledger to compare
  assert.deepStrictEqual(booked(recordingOf({ events: own.events, sent })), [])
})
