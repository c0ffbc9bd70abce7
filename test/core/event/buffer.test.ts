/** Which events a run keeps for its readers, and what is known of those that are gone. */
import { assert, it } from "@effect/vitest"
import { type AgentEvent, Message } from "@kintsugi/core"
import { EventBuffer } from "../../../packages/core/src/event/buffer.ts"

type Type = AgentEvent.AgentEvent["type"]

/** An event with the parts that count here, of 5 values and 12 characters besides its type and these parts. */
const event = (type: Type, parts: object = {}, runId = "r") =>
  ({ type, runId, agent: "a", turn: 1, at: 0, ...parts }) as unknown as AgentEvent.AgentEvent

const start = event("run-start", { input: "", transcript: [Message.user("go")] })
const delta = (text: string, parts: object = {}) => event("text-delta", { text, ...parts })
const said = (text: string) => event("turn-end", { message: Message.assistant(text) })

const bufferOf = (
  limits: Partial<EventBuffer["limits"]>,
  events: ReadonlyArray<AgentEvent.AgentEvent>
): EventBuffer => {
  const buffer = new EventBuffer()
  buffer.limits = { events: Infinity, bytes: Infinity, ...limits }
  for (const one of events) buffer.push(one)
  return buffer
}

const numbersOf = (buffer: EventBuffer) => buffer.after(0, Infinity).map(({ number }) => number)

/** How many bytes an event counts for: with one byte less, it leaves no room for one of the two events before it. */
const bytesOf = (one: AgentEvent.AgentEvent): number => {
  let low = 0
  let high = 100_000
  const small = delta("")
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbersOf(bufferOf({ bytes: middle + 2 * 16 }, [small, small, one])).length === 3) high = middle
    else low = middle + 1
  }
  return low
}

it("a buffer holds its limit of events and no more, the latest always [P1542]", () => {
  const events = Array.from({ length: 5 }, (_, index) => event("model-start", { attempt: index }))
  assert.deepStrictEqual(numbersOf(bufferOf({ events: 5 }, events)), [1, 2, 3, 4, 5])
  assert.deepStrictEqual(numbersOf(bufferOf({ events: 3 }, events)), [3, 4, 5])
  assert.deepStrictEqual(numbersOf(bufferOf({ events: 0 }, events)), [5])
  assert.deepStrictEqual(numbersOf(bufferOf({ bytes: 0 }, events)), [5])
  const { gone, latest, runId } = bufferOf({ events: 3 }, events)
  assert.deepStrictEqual([gone?.number, latest, runId], [2, 5, "r"])
  assert.isUndefined(bufferOf({ events: 5 }, events).gone)
})

it("without limits of its own, it holds those of a budget without limits [P1542]", () => {
  const { limits } = new EventBuffer()
  assert.deepStrictEqual(limits, { events: 4096, bytes: 4 * 2 ** 20 })
})

it("a byte is a character, sixteen more are a value, and the transcript that the run has does not count [P1542]", () => {
  assert.strictEqual(bytesOf(delta("")), 16)
  assert.strictEqual(bytesOf(delta("x".repeat(50))), 66)
  assert.strictEqual(bytesOf(event("reasoning-delta", { text: "x".repeat(50) })), 66)
  const plain = bytesOf(event("model-start"))
  // the event itself, five values, and the letters of three of them
  assert.strictEqual(plain, 6 * 16 + "model-start".length + "r".length + "a".length)
  const more = (parts: object) => bytesOf(event("model-start", parts)) - plain
  assert.strictEqual(more({ one: "x".repeat(50) }), 66)
  assert.strictEqual(more({ one: 5, two: null, three: true, four: undefined }), 64)
  assert.strictEqual(more({ one: ["ab", { two: "c" }] }), 16 + 18 + 16 + 17)
  assert.strictEqual(more({ one: new Uint8Array(100) }), 116)
  assert.strictEqual(more({ transcript: ["x".repeat(500)] }), 0)
  // objects of other libraries count as one value
  assert.strictEqual(more({ one: new Map([["a", "b".repeat(500)]]) }), 16)
  assert.strictEqual(more({ one: Object.create({ text: "b".repeat(500) }) }), 16)
  const evil = {}
  Object.defineProperty(evil, "text", {
    enumerable: true,
    get: () => {
      throw new Error("no")
    }
  })
  assert.strictEqual(more({ one: evil }), 16)
})

it("deltas of a finished model call are merged before an event is dropped, and hold their numbers [P1542]", () => {
  const end = event("model-end", { reply: {}, attempt: 1 })
  const events = [start, delta("a"), delta("b"), delta("c"), end]
  const buffer = bufferOf({ events: 4 }, events)
  assert.deepStrictEqual(
    buffer.after(0, Infinity).map(({ ends, number }) => [number, ends]),
    [
      [1, undefined],
      [4, [1, 2, 3]],
      [5, undefined]
    ]
  )
  assert.isUndefined(buffer.gone)
  // an open call has its deltas apart: the oldest are dropped
  assert.deepStrictEqual(numbersOf(bufferOf({ events: 3 }, events.slice(0, 4))), [2, 3, 4])
  // merged, three deltas count one value, their text, and eight bytes for where each ends
  const whole = 16 + 3 + 3 * 8
  const others = [start, end].map(bytesOf).reduce((sum, size) => sum + size, 0)
  assert.isUndefined(bufferOf({ bytes: others + whole }, events).gone)
  assert.strictEqual(bufferOf({ bytes: others + whole - 1 }, events).gone?.number, 1)
})

it("it gives at most as many events as are asked for, those after a number [P1542]", () => {
  const buffer = bufferOf(
    { events: 4 },
    Array.from({ length: 9 }, () => event("model-start"))
  )
  const after = (number: number, most: number) => buffer.after(number, most).map((one) => one.number)
  assert.deepStrictEqual(after(0, 2), [6, 7])
  assert.deepStrictEqual(after(7, 9), [8, 9])
  assert.deepStrictEqual(after(8, 9), [9])
  assert.deepStrictEqual(after(9, 9), [])
  assert.deepStrictEqual(after(0, 0), [])
})

it("after thousands of dropped events the latest are still there [P1542]", () => {
  const buffer = bufferOf(
    { events: 2 },
    Array.from({ length: 5000 }, () => event("model-start"))
  )
  assert.deepStrictEqual(numbersOf(buffer), [4999, 5000])
  assert.strictEqual(buffer.gone?.number, 4998)
})

const lostOf = (events: ReadonlyArray<AgentEvent.AgentEvent>) => {
  // one event stays
  const lost = bufferOf({ events: 1 }, [...events, event("model-start")]).lost()
  return [lost?.transcript, lost?.text]
}

it("what the dropped events said is the transcript so far, and the open text of the model [P1542]", () => {
  const go = Message.user("go")
  assert.deepStrictEqual(lostOf([start]), [[go], undefined])
  assert.deepStrictEqual(lostOf([start, delta("a"), delta("b")]), [[go], "ab"])
  assert.deepStrictEqual(lostOf([start, event("reasoning-delta", { text: "hm" })]), [[go], undefined])
  assert.deepStrictEqual(lostOf([start, delta("a"), said("ab")]), [[go, Message.assistant("ab")], undefined])
  assert.deepStrictEqual(lostOf([start, delta("a"), event("turn-start")]), [[go], undefined])
  assert.deepStrictEqual(lostOf([start, delta("a"), start]), [[go], undefined])
  const continued = event("attempt-continued", { attempt: 1, kept: "a" })
  assert.deepStrictEqual(lostOf([start, delta("ab"), continued, delta("c")]), [[go], "ac"])
  const discarded = event("attempt-discarded", { attempt: 1, text: "a" })
  assert.deepStrictEqual(lostOf([start, delta("a"), discarded]), [[go], undefined])
  // the text of a part of a composition is discarded: not this one
  assert.deepStrictEqual(lostOf([start, delta("a"), { ...discarded, discardedRunId: "s" } as typeof discarded]), [
    [go],
    "a"
  ])
  // the events of other runs say nothing of this one
  assert.deepStrictEqual(lostOf([start, delta("a", { runId: "s" }), { ...said("no"), runId: "s" }]), [[go], undefined])
})

it("it names the run, and when the last of the dropped events was [P1542]", () => {
  const buffer = bufferOf({ events: 1 }, [start, event("model-start", { turn: 3, at: 7 }, "s"), event("model-start")])
  assert.deepStrictEqual(buffer.lost(), {
    type: "events-lost",
    runId: "r",
    agent: "a",
    turn: 3,
    at: 7,
    transcript: [Message.user("go")]
  })
})

it("before anything is dropped, the state is that at the start of the run [P1542]", () => {
  assert.isUndefined(new EventBuffer().lost())
  assert.deepStrictEqual(bufferOf({}, [start, said("hi")]).lost()?.transcript, [Message.user("go")])
  // a resumed reader may begin in the middle
  assert.deepStrictEqual(bufferOf({}, [said("hi")]).lost()?.transcript, [])
})

it("what an event holds of another class counts as one value, however much it holds [P1542]", () => {
  class Held {
    readonly text = "x".repeat(1000)
  }
  const bare = bytesOf(event("model-start", { value: 1 }))
  assert.strictEqual(bytesOf(event("model-start", { value: new Held() })), bare)
  assert.strictEqual(bytesOf(event("model-start", { value: { ...new Held() } })), bare + 16 + 1000)
})
