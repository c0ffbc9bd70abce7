/** What a run waits for, by its events alone: each event opens and closes what is its own, and nothing else. */
import { assert, it } from "@effect/vitest"
import { type AgentEvent, Message, type Snapshot } from "@kintsugi/core"
import { Waits } from "../../../packages/core/src/event/waits.ts"

type Type = AgentEvent.AgentEvent["type"]

/** An event with the parts that count here. */
const event = (type: Type, parts: object = {}, runId = "r") =>
  ({ type, runId, agent: `a-${runId}`, turn: 1, at: 0, ...parts }) as unknown as AgentEvent.AgentEvent

const within = (parent: string) => ({ parent: { runId: parent } })

const requestOf = (callId: string, runId = "r", failed?: object) => ({
  key: `key-${runId}-${callId}`,
  digest: `digest-${callId}`,
  agent: `a-${runId}`,
  runId,
  callId,
  tool: "pay",
  expiresAt: 9,
  ...(failed && { failed })
})

const asks = (callId: string, runId = "r", parts: object = {}) =>
  event("approval-requested", { callId, tool: "pay", request: requestOf(callId, runId), ...parts }, runId)

const defers = (callId: string, handle: unknown = { job: callId }, parts: object = {}, runId = "r") =>
  event("tool-waiting", { callId, tool: "order", handle, expiresAt: 5, ...parts }, runId)

/** The call goes on without its result. */
const goesOn = (callId: string, runId = "r") =>
  event("tool-end", { callId, tool: "order", use: { settlement: { kind: "deferred", text: "" } } }, runId)

const says = (id: string, runId = "r", parts: object = {}) =>
  event("message-queued", { id, message: Message.user(id), ...parts }, runId)

/** What is waited for, in short: the type, the run and the call or message. */
const left = (...events: ReadonlyArray<AgentEvent.AgentEvent>): ReadonlyArray<string> => short(after(...events))

const after = (...events: ReadonlyArray<AgentEvent.AgentEvent>): Waits => {
  const waits = new Waits()
  for (const one of events) waits.add(one)
  return waits
}

const short = ({ all }: Waits) =>
  all.map((one) => `${one.type} ${one.runId}.${one.type === "message" ? one.id : one.callId}`)

it("each event of a call ends what that call waits for, and nothing else", () => {
  const begun = [asks("c1"), defers("c2"), says("m1"), asks("c1", "s", within("r")), says("c1")]
  const all = ["approval r.c1", "deferred r.c2", "message r.m1", "approval s.c1", "message r.c1"]
  assert.deepStrictEqual(left(...begun), all)
  for (const type of ["approval-decided", "approval-expired", "tool-denied", "tool-skipped", "tool-failed"] as const) {
    for (const [callId, gone] of [
      ["c1", 0],
      ["c2", 1]
    ] as const) {
      assert.deepStrictEqual(left(...begun, event(type, { callId, tool: "pay" })), all.toSpliced(gone, 1), type)
    }
    assert.deepStrictEqual(left(...begun, event(type, { callId: "m1", tool: "pay" })), all, type)
  }
  const ended = event("tool-end", { callId: "c1", tool: "pay", use: { settlement: { kind: "result", text: "" } } })
  assert.deepStrictEqual(left(...begun, ended), all.slice(1))
  for (const type of ["message-read", "message-returned"] as const) {
    assert.deepStrictEqual(left(...begun, event(type, { id: "m1" })), all.toSpliced(2, 1), type)
    assert.deepStrictEqual(left(...begun, event(type, { id: "m2" })), all, type)
  }
  assert.deepStrictEqual(left(...begun, event("model-start")), all)
})

it("each entry has the data of its event, the message with its images, and no token", () => {
  const failed = event("approval-requested", {
    callId: "c2",
    tool: "pay",
    request: requestOf("c2", "r", { error: "no" })
  })
  assert.deepStrictEqual(after(asks("c1"), failed, defers("c3"), says("m")).all as ReadonlyArray<unknown>, [
    { type: "approval", runId: "r", agent: "a-r", callId: "c1", tool: "pay", request: requestOf("c1"), expiresAt: 9 },
    {
      type: "ask",
      runId: "r",
      agent: "a-r",
      callId: "c2",
      tool: "pay",
      request: requestOf("c2", "r", { error: "no" }),
      expiresAt: 9
    },
    { type: "deferred", runId: "r", agent: "a-r", callId: "c3", tool: "order", handle: { job: "c3" }, expiresAt: 5 },
    { type: "message", runId: "r", agent: "a-r", id: "m", message: Message.user("m") }
  ])
})

it("a request that is made anew replaces the one before, and a call that waits again its wait", () => {
  assert.deepStrictEqual(left(asks("c1"), asks("c2"), asks("c1")), ["approval r.c2", "approval r.c1"])
  const renewed = after(defers("c1", 1), defers("c2", 2), defers("c1", 3))
  assert.deepStrictEqual(
    renewed.all.map((one) => one.type === "deferred" && one.handle),
    [2, 3]
  )
})

it("a call whose run goes on waits beyond its turn, until its result is there [P1524]", () => {
  const late = [defers("c1"), asks("c2"), goesOn("c1")]
  const result = (callId: string, handle: unknown, runId = "r") =>
    event("tool-result", { callId, tool: "order", handle, message: Message.user("") }, runId)
  assert.deepStrictEqual(left(...late), ["deferred r.c1", "approval r.c2"])
  assert.deepStrictEqual(left(...late, event("turn-end")), ["deferred r.c1"])
  // nothing but the result itself ends it
  const stays = ["deferred r.c1", "approval r.c2"]
  assert.deepStrictEqual(left(...late, event("tool-failed", { callId: "c1", tool: "order" })), stays)
  assert.deepStrictEqual(left(...late, result("c1", { job: "other" })), stays)
  assert.deepStrictEqual(left(...late, result("c2", { job: "c1" })), stays)
  assert.deepStrictEqual(left(...late, result("c1", { job: "c1" }, "s")), stays)
  assert.deepStrictEqual(left(...late, result("c1", { job: "c1" })), ["approval r.c2"])
  // a call that waits and did not go on has no result of its own event
  assert.deepStrictEqual(left(defers("c1"), result("c1", { job: "c1" })), ["deferred r.c1"])
  // the other calls of the run end with the turn
  assert.deepStrictEqual(left(defers("c1"), defers("c2"), goesOn("c2"), event("turn-end")), ["deferred r.c2"])
})

it("a retried call whose run goes on waits with its new handle in the stead of the old one [P1524]", () => {
  const late = [defers("c1", "one"), goesOn("c1"), defers("c1", "two", { replaces: "one" })]
  const waits = after(...late)
  assert.deepStrictEqual(
    waits.all.map((one) => one.type === "deferred" && one.handle),
    ["two"]
  )
  assert.deepStrictEqual(left(...late, event("turn-end")), ["deferred r.c1"])
  // two calls with one id are told apart by their handles
  const twice = after(
    defers("c1", "a"),
    goesOn("c1"),
    defers("c1", "b", { replaces: "x" }),
    defers("c1", "c", { replaces: "a" })
  )
  assert.deepStrictEqual(
    twice.all.map((one) => one.type === "deferred" && one.handle),
    ["b", "c"]
  )
})

it("the end of a run ends the waits of all runs in it, and of no other", () => {
  const begun = [
    asks("c1"),
    asks("c2", "s", within("r")),
    asks("c3", "t", within("s")),
    asks("c4", "o"),
    says("m", "s")
  ]
  for (const type of ["run-completed", "run-failed", "run-interrupted"] as const) {
    assert.deepStrictEqual(left(...begun, event(type, {}, "s")), ["approval r.c1", "approval o.c4"], type)
    assert.deepStrictEqual(left(...begun, event(type)), ["approval o.c4"], type)
  }
})

const snapshotWith = (runId: string, parts: object) =>
  ({ runId, agent: `a-${runId}`, ...parts }) as unknown as Snapshot.Snapshot

/** Calls of a reply, each with its state. */
const unfinishedWith = (...calls: ReadonlyArray<object>) => ({
  reply: { content: calls.map((_, index) => ({ type: "tool-call", id: `c${index}`, name: "pay", arguments: {} })) },
  calls
})

it("a suspended run waits for what its snapshot says, in the stead of its events, and so do its sub-agents", () => {
  const inner = snapshotWith("s", { unfinished: unfinishedWith({ type: "decision", request: requestOf("c1", "s") }) })
  const snapshot = snapshotWith("r", {
    late: [{ callId: "c9", tool: "order", handle: 1, expiresAt: 5, token: "secret" }],
    unfinished: unfinishedWith({ type: "finished" }, { type: "agent", snapshot: inner })
  })
  const suspended = event("run-suspended", { snapshot })
  const waits = after(asks("gone"), says("other", "o"), suspended)
  assert.deepStrictEqual(short(waits), ["message o.other", "deferred r.c9", "approval s.c1"])
  assert.notInclude(JSON.stringify(waits.all), "secret")
  // where it goes on, the late call stays after the turn, and what its sub-agent waits for does not
  assert.deepStrictEqual(left(suspended, event("run-start"), event("turn-end")), ["deferred r.c9"])
  // the sub-agent goes on itself: its turn ends, the turn of its parent leaves it
  const begun = event("run-start", {}, "s")
  const resumed = [suspended, event("run-start"), begun]
  assert.deepStrictEqual(left(...resumed, event("turn-end")), ["deferred r.c9", "approval s.c1"])
  assert.deepStrictEqual(left(...resumed, event("turn-end", {}, "s")), ["deferred r.c9"])
  // a run that is no part of it is left alone, suspended or not
  const apart = event("run-suspended", { snapshot: inner }, "s")
  assert.deepStrictEqual(left(apart, asks("c5"), event("turn-end")), ["approval s.c1"])
})

it("a run that goes on from a snapshot begins with its waits, and is not suspended", () => {
  const late = (handle: unknown) => ({ callId: "c0", tool: "order", handle, expiresAt: 5, token: "t" })
  const waits = new Waits()
  waits.resumed(
    snapshotWith("r", {
      late: [late("a")],
      unfinished: unfinishedWith({ type: "decision", request: requestOf("c0") }),
      inbox: [{ id: "m", message: Message.user("m") }]
    })
  )
  assert.deepStrictEqual(short(waits), ["deferred r.c0", "approval r.c0", "message r.m"])
  waits.add(event("turn-end", {}, "parent"))
  assert.deepStrictEqual(short(waits), ["deferred r.c0", "approval r.c0", "message r.m"])
  waits.add(event("turn-end"))
  assert.deepStrictEqual(short(waits), ["deferred r.c0", "message r.m"])
})
